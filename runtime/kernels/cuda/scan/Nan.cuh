//===- Nan.cuh - Distances that are NaN ---------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel asks once for many pairs whether any is NaN, and only then which.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_NAN_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_NAN_CUH

#include "../common/ScanArgs.h"

namespace {

/// Adds `count` pairs to what is counted, of which one is `query` and `row`.
__device__ __forceinline__ void addNan(const annudf_scan_args &args, uint32_t count, int query,
                                       int64_t row) {
  if (args.nan == 0)
    return;
  annudf_nan &nan = *reinterpret_cast<annudf_nan *>(args.nan);
  if (atomicAdd(&nan.count, static_cast<unsigned long long>(count)) != 0)
    return;
  // The first: in host memory, where nobody has to ask the device.
  volatile annudf_nan_example &example = *reinterpret_cast<annudf_nan_example *>(nan.example);
  example.query = query;
  example.row = row;
  __threadfence_system(); // The host may look at any time.
  example.found = 1;
}

/// The same of a warp, each lane with pairs of its own, one of them `query` and `row` if it has
/// any.
__device__ __forceinline__ void addNanOfWarp(const annudf_scan_args &args, int lane, uint32_t count,
                                             int query, int64_t row) {
  const uint32_t lanes = __ballot_sync(0xFFFFFFFFu, count != 0);
  uint32_t sum = count;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
  if (lanes != 0 && lane == __ffs(static_cast<int>(lanes)) - 1)
    addNan(args, sum, query, row);
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_NAN_CUH
