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
#include <new>

#ifndef ANNUDF_VERSION
#error "ANNUDF_VERSION comes from CMake"
#endif

int main(int argc, char **argv) {
  CLI::App app("annudf: your own distance in a vector search, verified and linked into the scan",
               "annudf");
  app.set_version_flag("--version", annudf::tool::versionText());
  app.option_defaults()->always_capture_default(); // --help shows the defaults.
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 bad input or environment, 2 bad usage, 130 interrupted; verify: 3 "
      "not all could be compared.");
  annudf::tool::addCompileCommand(app);
  annudf::tool::addInspectCommand(app);
  annudf::tool::addBuildCommand(app);
  annudf::tool::addExtendCommand(app);
  annudf::tool::addSearchCommand(app);
  annudf::tool::addDoctorCommand(app);
  int code = 0;
  annudf::tool::addVerifyCommand(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11's own codes are many; users get the documented two.
    if (app.exit(error) != 0)
      return 2;
  } catch (const annudf::Error &error) {
    std::fprintf(stderr, "annudf: %s\n", error.what());
    return error.exitCode();
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "annudf: out of memory\n");
    return 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "annudf: internal error: %s\n", error.what());
    return 1;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("annudf: cannot write to the standard output");
    return 1;
  }
  return code;
}
