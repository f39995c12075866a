//===- Keys.cuh - Distances as unsigned keys ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_KEYS_CUH
#define ANNUDF_KERNELS_CUDA_KEYS_CUH

#include "../Orders.h"
#include "ScanArgs.h"

/// Smaller key: better distance. NaN becomes ANNUDF_KEY_NONE, which no number has:
/// the keys of -inf and +inf are 0x007FFFFF and 0xFF800000.
/// -0 has the key of 0.
__device__ __forceinline__ uint32_t annudfKeyOf(float distance, int order) {
  uint32_t bits = __float_as_uint(distance + 0.0f);
  uint32_t key = bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
  if (annudf_kernels::isLargestBest(order))
    key = ~key;
  return distance == distance ? key : ANNUDF_KEY_NONE;
}

__device__ __forceinline__ float annudfDistanceOf(uint32_t key, int order) {
  if (key == ANNUDF_KEY_NONE)
    return __uint_as_float(annudf_kernels::isLargestBest(order) ? 0xFF800000u : 0x7F800000u);
  if (annudf_kernels::isLargestBest(order))
    key = ~key;
  return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

#endif // ANNUDF_KERNELS_CUDA_KEYS_CUH
