//===- Verify.cpp - annudf verify -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/Artifact/Artifact.h"
#ifdef ANNUDF_HAVE_COMPILER
#include "annudf/Compiler/Verify.h"
#endif

#include <cstdio>

using namespace annudf;

#ifdef ANNUDF_HAVE_COMPILER
/// Not an error of the file: what there is to compare is equal, but it is not all.
static constexpr int kNotAllCompared = 3;

static int runVerify(const std::string &path, bool quiet) {
  const VerifyReport report = verifyArtifact(readArtifact(path), path);
  const auto print = [](const char *mark, const std::vector<std::string> &lines) {
    for (const std::string &line : lines)
      std::printf("  %-10s%s\n", mark, line.c_str());
  };
  if (!quiet) {
    std::printf("%s\n", path.c_str());
    print("same", report.same);
    print("unknown", report.unknown);
    print("DIFFERENT", report.different);
    std::fflush(stdout); // Before what goes to the other stream.
  }
  if (!report.different.empty())
    throw Error(ErrorKind::Input,
                path + ": differs from what its module gives: " + report.different.front() +
                    (report.different.size() > 1 ? ", and more" : ""));
  return report.unknown.empty() ? 0 : kNotAllCompared;
}
#endif

void tool::addVerifyCommand(CLI::App &app, int &code) {
  CLI::App *command = app.add_subcommand(
      "verify", "Compile the module of an artifact again and compare code and manifest");
#ifdef ANNUDF_HAVE_COMPILER
  auto path = std::make_shared<std::string>();
  auto quiet = std::make_shared<bool>(false);
  command->add_option("artifact", *path, "Artifact (.annudf)")->required();
  command->add_flag("-q,--quiet", *quiet, "Print errors only");
  command->footer("Exit codes: 0 everything matches, 1 something differs or breaks a rule, 3 "
                  "nothing differs, but not everything could be compared.");
  command->callback([path, quiet, &code] { code = runVerify(*path, *quiet); });
#else
  command->allow_extras();
  command->callback([] {
    throw Error(ErrorKind::Environment, "this annudf was built without the compiler "
                                        "(ANNUDF_BUILD_COMPILER=OFF); verify elsewhere");
  });
#endif
}
