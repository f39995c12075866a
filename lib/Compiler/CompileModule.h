//===- CompileModule.h - The compiler without exceptions -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR is built without exceptions and RTTI, annudf::Error is thrown with both. So
// all that touches MLIR stands behind this header, which needs neither.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_COMPILEMODULE_H
#define ANNUDF_LIB_COMPILER_COMPILEMODULE_H

#include "annudf/Compiler/CudaSource.h"
#include "annudf/Compiler/DeviceUdf.h"

#include <optional>

namespace annudf::compiler {

/// What annudf::Error is to be made of.
struct Fault {
  ErrorKind kind;
  std::string text;
  bool isInternal = false; ///< annudf's own fault, not its input's; then a std::logic_error.
};

/// What a compile tells besides its result.
struct Findings {
  std::vector<std::string> warnings;
  std::vector<Diagnostic> diagnostics;
  CompileTimings timings;
};

/// compileMetric(), its faults returned.
std::optional<Fault> compileModule(const std::string &source, const std::string &origin,
                                   const CompileOptions &options, Artifact &artifact,
                                   Findings &findings);

/// lowerMetric(), its faults returned.
std::optional<Fault> lowerModule(const std::string &source, const std::string &origin, Stage stage,
                                 const CompileOptions &options, std::string &code,
                                 Findings &findings);

/// compileCudaSource(), its faults returned.
std::optional<Fault> compileCudaModule(const std::string &source, const std::string &origin,
                                       const CudaSourceOptions &options, Artifact &artifact,
                                       Findings &findings);

/// compileDeviceUdf() of a descriptor without faults, its faults returned.
std::optional<Fault> compileUdfModule(const DeviceUdf &udf, const std::string &origin,
                                      const CudaSourceOptions &options, Artifact &artifact,
                                      Findings &findings);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_COMPILEMODULE_H
