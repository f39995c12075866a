//===- CudaSource.h - From CUDA C++ to an artifact ------------ -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expert path (docs/cuda-source.md): NVRTC compiles a metric's own source between
// a generated preamble and generated hooks. No MLIR or CUDA header is needed to use it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_COMPILER_CUDASOURCE_H
#define ANNUDF_COMPILER_CUDASOURCE_H

#include "annudf/Compiler/Compiler.h"

namespace annudf {

struct CudaSourceOptions {
  /// "sm_90", ... Empty: every supported architecture.
  std::vector<std::string> archs;
  std::string name = "cuda_source";
  annudf_order order = ANNUDF_ORDER_MIN;
  annudf_coarse coarse = ANNUDF_COARSE_L2;
  annudf_order coarseOrder = ANNUDF_ORDER_MIN;
  /// Empty: all that the type of x and y can hold.
  std::vector<annudf_element> elements;
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  /// Type of x and y. Nothing: what suits the accumulator.
  std::optional<annudf_compute> compute;
  /// The accumulator before the first dimension.
  double initial = 0;
  /// Members of annudf_context: scalars and arrays with extent dim. Not for sources in
  /// the form of cuVS, which have no context.
  std::vector<CaptureInfo> captures;
  /// Whether the source knows what to do with a coordinate that is NaN.
  bool missingValues = false;
};

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
