//===- CudaSource.h - What a metric in CUDA C++ is asked to be ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TARGET_CUDASOURCE_H
#define ANNUDF_TARGET_CUDASOURCE_H

#include "annudf/Artifact/Descriptor.h"

#include <optional>
#include <string>
#include <vector>

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

} // namespace annudf

#endif // ANNUDF_TARGET_CUDASOURCE_H
