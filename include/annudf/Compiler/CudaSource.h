//===- CudaSource.h - From CUDA C++ to an artifact ------------ -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expert path (docs/develop/cuda-source.md): NVRTC compiles a metric's own source between
// a generated preamble and generated hooks. No MLIR or CUDA header is needed to use it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_COMPILER_CUDASOURCE_H
#define ANNUDF_COMPILER_CUDASOURCE_H

#include "annudf/Compiler/Compiler.h"
#include "annudf/Target/CudaSource.h"

namespace annudf {

/// Compiles `source`. The artifact holds LTO-IR only and is not marked as verified.
/// \param diagnostics  NVRTC's, at the lines of `source`, whether it throws or not.
/// \throws Error(Input) whose text is the errors; Error(Usage) for options that contradict
/// each other; Error(Environment) where there is no NVRTC of CUDA 13.
Artifact compileCudaSource(const std::string &source, const std::string &origin,
                           const CudaSourceOptions &options = {},
                           std::vector<Diagnostic> *diagnostics = nullptr);

/// As describeLibNvvm().
std::string describeNvrtc(std::string *searched = nullptr);

} // namespace annudf

#endif // ANNUDF_COMPILER_CUDASOURCE_H
