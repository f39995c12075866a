//===- Starts.cuh - Where a place belongs among starts ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_STARTS_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_STARTS_CUH

#include <stdint.h>

/// The last of `count` starts, which never fall, at or before `place`; the first is. If several
/// are equal, the last: those before it are empty.
__device__ __forceinline__ uint32_t lastStartUpTo(const uint32_t *starts, uint32_t count,
                                                  uint32_t place) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (starts[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  return low;
}

#endif // ANNUDF_KERNELS_CUDA_COMMON_STARTS_CUH
