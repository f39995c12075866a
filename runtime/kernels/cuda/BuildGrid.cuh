//===- BuildGrid.cuh - Where a thread is ------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the kernels of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILDGRID_CUH
#define ANNUDF_KERNELS_CUDA_BUILDGRID_CUH

#include "BuildArgs.h"

namespace {

__device__ __forceinline__ uint64_t threadOfGrid() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint64_t threadsOfGrid() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/// The last i with starts[i] <= value, of `count` + 1 that do not descend.
__device__ uint32_t segmentOf(const uint32_t *starts, uint32_t count, uint32_t value) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (starts[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_BUILDGRID_CUH
