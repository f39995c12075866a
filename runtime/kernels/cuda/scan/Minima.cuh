//===- Minima.cuh - The best keys of a warp's tile ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Staged.cu. A lane has the keys of one row of each of four groups, for some queries. Each
// exchange with another lane halves what it looks after: first the queries, with lanes of the
// granule's other rows, then the groups, with lanes of other granules.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_MINIMA_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_MINIMA_CUH

#include "../common/ProductArgs.h"

namespace {

/// Bits of a lane that tell the rows of one granule apart, three, and those that tell the granule,
/// two.
__device__ constexpr int rowBit(int step) { return 1 << step; }
__device__ constexpr int granuleBit(int step) { return ANNUDF_GRANULE_ROWS << step; }

/// Which granule of a group a lane's row is of.
__device__ __forceinline__ int granuleOf(int lane) { return lane / ANNUDF_GRANULE_ROWS; }

/// Leaves in key[0] the best of the lane's granule of each group, of query queryOf(lane). kHalf and
/// kStep are constants of each call, so that keys stay in registers.
template <int kQueries, int kHalf = kQueries / 2, int kStep = 0>
__device__ __forceinline__ void granuleMinima(uint32_t (&key)[kQueries][4], int lane) {
  static_assert(kQueries <= 8, "an exchange for each half");
  if constexpr (kStep < 3) {
    constexpr int kBit = rowBit(kStep);
    const bool upper = lane & kBit;
#pragma unroll
    for (int q = 0; q < (kHalf > 0 ? kHalf : 1); ++q)
#pragma unroll
      for (int g = 0; g < 4; ++g) {
        const uint32_t keep = upper ? key[q + kHalf][g] : key[q][g];
        const uint32_t give = upper ? key[q][g] : key[q + kHalf][g];
        key[q][g] = min(keep, __shfl_xor_sync(0xFFFFFFFFu, give, kBit));
      }
    granuleMinima<kQueries, kHalf / 2, kStep + 1>(key, lane);
  }
}

template <int kQueries> __device__ __forceinline__ int queryOf(int lane) {
  int query = 0;
#pragma unroll
  for (int step = 0, queries = kQueries; queries > 1; ++step, queries /= 2)
    query = query * 2 + ((lane & rowBit(step)) != 0);
  return query;
}

/// After granuleMinima(): leaves in key[0] the best of group groupOf(lane).
__device__ __forceinline__ void groupMinima(uint32_t (&key)[4], int lane) {
#pragma unroll
  for (int step = 0, half = 2; half > 0; ++step, half /= 2) {
    const bool upper = lane & granuleBit(step);
#pragma unroll
    for (int g = 0; g < half; ++g) {
      const uint32_t keep = upper ? key[g + half] : key[g];
      const uint32_t give = upper ? key[g] : key[g + half];
      key[g] = min(keep, __shfl_xor_sync(0xFFFFFFFFu, give, granuleBit(step)));
    }
  }
}

__device__ __forceinline__ int groupOf(int lane) {
  return ((lane & granuleBit(0)) != 0) * 2 + ((lane & granuleBit(1)) != 0);
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_MINIMA_CUH
