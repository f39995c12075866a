//===- Keys.cuh - Distances as unsigned keys ----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_KEYS_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_KEYS_CUH

#include "../../Orders.h"
#include "ScanArgs.h"

/// Smaller key: better distance. NaN becomes ANNUDF_KEY_NONE, which no number has: of the order
/// that wants the smallest the keys of -inf and +inf are 0x007FFFFF and 0xFF800000, of the other
/// those of +inf and -inf. -0 has the key of 0. Few instructions, as a scan does them for every
/// row.
__device__ __forceinline__ uint32_t annudfKeyOf(float distance, int order) {
  const float sign = annudf_kernels::isLargestBest(order) ? -1.0f : 1.0f;
#ifdef __CUDA_ARCH__
  // An operation with a NaN gives the NaN 0x7FFFFFFF (CUDA C++ Programming Guide, Floating-Point
  // Standard), whose key is ANNUDF_KEY_NONE. In assembler, as compilers fold constants to others.
  float value;
  asm("fma.rn.f32 %0, %1, %2, 0f00000000;" : "=f"(value) : "f"(distance), "f"(sign));
  const uint32_t bits = __float_as_uint(value);
#else
  const uint32_t bits =
      distance == distance ? __float_as_uint(distance * sign + 0.0f) : 0x7FFFFFFFu;
#endif
  return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u);
}

__device__ __forceinline__ float annudfDistanceOf(uint32_t key, int order) {
  const bool largest = annudf_kernels::isLargestBest(order);
  if (key == ANNUDF_KEY_NONE)
    return __uint_as_float(largest ? 0xFF800000u : 0x7F800000u);
  const float value = __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
  return largest ? 0.0f - value : value; // 0 stays 0.
}

#endif // ANNUDF_KERNELS_CUDA_COMMON_KEYS_CUH
