//===- annudf.cpp - The annudf command -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/Support/Error.h"

#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

using annudf::tool::print;

static int run(int argc, char **argv) {
  CLI::App app("annudf: your own distance in a vector search, verified and linked into the scan",
               "annudf");
  app.set_version_flag("--version", annudf::tool::versionText());
  app.option_defaults()->always_capture_default(); // --help shows the defaults.
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 bad input or environment, 2 bad usage, 130 interrupted; verify: 3 "
      "not everything could be compared.");
  annudf::tool::addCompileCommand(app);
  annudf::tool::addInspectCommand(app);
  annudf::tool::addBuildCommand(app);
  annudf::tool::addExtendCommand(app);
  annudf::tool::addRemoveCommand(app);
  annudf::tool::addSearchCommand(app);
  annudf::tool::addKnnCommand(app);
  annudf::tool::addRefineCommand(app);
  annudf::tool::addDistancesCommand(app);
  annudf::tool::addRadiusCommand(app);
  annudf::tool::addTuneCommand(app);
  annudf::tool::addDoctorCommand(app);
  int code = 0;
  annudf::tool::addVerifyCommand(app, code);
  annudf::tool::readValues(app);
  try {
    annudf::tool::checkCommand(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11's own codes are many; users get the documented two.
    std::ostringstream results, errors;
    const int code = app.exit(error, results, errors);
    print(stdout, results.str());
    print(stderr, errors.str());
    if (code != 0)
      return 2;
  } catch (const annudf::Error &error) {
    print(stderr, std::string("annudf: ") + error.what() + "\n");
    return error.exitCode();
  } catch (const std::bad_alloc &) {
    throw; // main tells, without memory.
  } catch (const std::exception &error) {
    print(stderr, std::string("annudf: internal error: ") + error.what() + "\n");
    return 1;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("annudf: cannot write to the standard output");
    return 1;
  }
  return code;
}

int main(int argc, char **argv) {
  annudf::tool::tellWhereMemoryRunsOut();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    annudf::tool::endWithoutMemory();
  }
}
