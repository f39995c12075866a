//===- BuildGrid.cuh - Where a thread is ------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Grids of the kernels of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_BUILDGRID_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_BUILDGRID_CUH

#include "../common/Starts.cuh"
#include "BuildArgs.h"

namespace {

__device__ __forceinline__ uint64_t threadOfGrid() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint64_t threadsOfGrid() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDGRID_CUH
