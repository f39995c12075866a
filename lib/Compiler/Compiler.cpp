//===- Compiler.cpp - The compiler as tools and frontends see it ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/compiler/Compiler.h"

#include "CompileModule.h"

#include "annudf/artifact/FileIO.h"

using namespace annudf;

/// No metric comes near this; what does is not one.
static constexpr uint64_t kMaxSourceBytes = uint64_t(16) << 20;

Artifact annudf::compileMetric(const std::string &source, const std::string &origin,
                               const CompileOptions &options, std::vector<std::string> *warnings,
                               CompileTimings *timings) {
  Artifact artifact;
  std::vector<std::string> unusedWarnings;
  CompileTimings unusedTimings;
  std::optional<compiler::Fault> fault = compiler::compileModule(
      source, origin, options, artifact, warnings ? *warnings : unusedWarnings,
      timings ? *timings : unusedTimings);
  if (fault)
    throw Error(fault->kind, fault->text);
  return artifact;
}

Artifact annudf::compileMetricFile(const std::string &path, const CompileOptions &options,
                                   std::vector<std::string> *warnings, CompileTimings *timings) {
  return compileMetric(readFile(path, kMaxSourceBytes), path, options, warnings, timings);
}
