//===- Compiler.cpp - The compiler as tools and frontends see it ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Compiler/Compiler.h"

#include "CompileModule.h"
#include "annudf/ABI/annudf_limits.h"

#include "annudf/Support/FileIO.h"
#include "annudf/Support/Fork.h"

#include "llvm/Support/ErrorHandling.h"

#include <new>
#include <stdexcept>

using namespace annudf;

namespace {

struct LlvmUse {
  const CompilerUse use;
  /// Where LLVM finds no memory it ends the process, unless it is told otherwise. Its frames
  /// can be unwound, as they are for operator new; what they held is lost.
  LlvmUse() {
    [[maybe_unused]] static const bool installed = [] {
      llvm::install_bad_alloc_error_handler(
          [](void *, const char *, bool) { throw std::bad_alloc(); });
      return true;
    }();
  }
};

} // namespace

/// Hands over what was found, then throws the fault, if there is one.
static void finish(std::optional<compiler::Fault> fault, compiler::Findings findings,
                   std::vector<std::string> *warnings, CompileTimings *timings,
                   std::vector<Diagnostic> *diagnostics) {
  if (warnings)
    warnings->insert(warnings->end(), findings.warnings.begin(), findings.warnings.end());
  if (timings)
    *timings = findings.timings;
  if (diagnostics)
    *diagnostics = std::move(findings.diagnostics);
  if (fault && fault->isInternal)
    throw std::logic_error(fault->text);
  if (fault)
    throw Error(fault->kind, fault->text);
}

Artifact annudf::compileMetric(const std::string &source, const std::string &origin,
                               const CompileOptions &options, std::vector<std::string> *warnings,
                               CompileTimings *timings, std::vector<Diagnostic> *diagnostics) {
  Artifact artifact;
  compiler::Findings findings;
  const LlvmUse use;
  auto fault = compiler::compileModule(source, origin, options, artifact, findings);
  finish(std::move(fault), std::move(findings), warnings, timings, diagnostics);
  return artifact;
}

Artifact annudf::compileMetricFile(const std::string &path, const CompileOptions &options,
                                   std::vector<std::string> *warnings, CompileTimings *timings) {
  return compileMetric(readFile(path, ANNUDF_MAX_SOURCE_BYTES), path, options, warnings, timings);
}

std::string annudf::lowerMetric(const std::string &source, const std::string &origin, Stage stage,
                                const CompileOptions &options,
                                std::vector<Diagnostic> *diagnostics) {
  std::string code;
  compiler::Findings findings;
  const LlvmUse use;
  auto fault = compiler::lowerModule(source, origin, stage, options, code, findings);
  finish(std::move(fault), std::move(findings), nullptr, nullptr, diagnostics);
  return code;
}

Artifact annudf::compileCudaSource(const std::string &source, const std::string &origin,
                                   const CudaSourceOptions &options,
                                   std::vector<Diagnostic> *diagnostics) {
  Artifact artifact;
  compiler::Findings findings;
  const LlvmUse use;
  auto fault = compiler::compileCudaModule(source, origin, options, artifact, findings);
  finish(std::move(fault), std::move(findings), nullptr, nullptr, diagnostics);
  return artifact;
}

Artifact annudf::compileDeviceUdf(const DeviceUdf &udf, const std::string &origin,
                                  const DeviceUdfImport &import,
                                  std::vector<Diagnostic> *diagnostics) {
  if (const std::string fault = faultOf(udf); !fault.empty())
    throw Error(ErrorKind::Input, origin + ": " + fault);
  CudaSourceOptions options;
  options.name = import.name;
  options.archs = import.archs;
  Artifact artifact;
  compiler::Findings findings;
  const LlvmUse use;
  auto fault = compiler::compileUdfModule(udf, origin, options, artifact, findings);
  finish(std::move(fault), std::move(findings), nullptr, nullptr, diagnostics);
  return artifact;
}
