//===- RadiusArgs.h - What the host passes to Radius.cuh ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H
#define ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H

#include "ScanArgs.h"

/// What a radius search counts, and then fills in.
struct annudf_radius_args {
  annudf_finish_args finish; ///< k is not read; ids and distances are of a fill alone.
  uint64_t counts; ///< uint32_t *, a query: its rows within the radius; zero before either kernel.
  uint64_t starts; ///< const uint64_t *, for a fill: where each query's results begin.
  float radius;    ///< Not NaN.
  uint32_t first;  ///< Query of the batch that the first block looks at.
};

#endif // ANNUDF_KERNELS_CUDA_COMMON_RADIUSARGS_H
