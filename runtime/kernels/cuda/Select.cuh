//===- Select.cuh - The k smallest keys, by one block -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One exact, deterministic routine serves the choice of lists, of groups and of rows:
// a radix select over 32-bit keys (11 + 11 + 10 bits; wide digits, because distances
// share their exponent and narrow ones would pile up in one counter), then an ordered
// compaction that breaks ties by index.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SELECT_CUH
#define ANNUDF_KERNELS_CUDA_SELECT_CUH

#include <stdint.h>

struct SelectScratch {
  uint32_t histogram[2048];
  uint32_t warpSum[32];
  uint32_t digit, below, inside;
};

/// Exclusive prefix sum of `value` over the block; `total` gets the sum. The block is
/// a whole number of warps. Ends with a barrier.
__device__ __forceinline__ uint32_t blockPrefix(uint32_t value, uint32_t *warpSum,
                                                uint32_t &total) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  uint32_t inclusive = value;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync(0xFFFFFFFFu, inclusive, distance);
    if (lane >= distance)
      inclusive += other;
  }
  if (lane == 31)
    warpSum[warp] = inclusive;
  __syncthreads();
  // Every thread adds up the warps before its own: at most 32 broadcast reads.
  uint32_t before = 0, sum = 0;
  for (uint32_t i = 0; i < warps; ++i) {
    before += i < warp ? warpSum[i] : 0;
    sum += warpSum[i];
  }
  total = sum;
  __syncthreads();
  return before + inclusive - value;
}

/// Calls emit(place, index, key) for the min(k, n) smallest of keyAt(0..n), ties by
/// index; places are 0.. in order of index. Starts and ends with a barrier.
template <class KeyAt, class Emit>
__device__ void selectSmallest(SelectScratch &scratch, uint32_t n, uint32_t k, KeyAt keyAt,
                               Emit emit) {
  if (n <= k) {
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
      emit(i, i, keyAt(i));
    __syncthreads();
    return;
  }
  uint32_t prefix = 0, mask = 0, wanted = k;
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {
    const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
    const uint32_t bins = pass == 2 ? 1024 : 2048;
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
      scratch.histogram[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
      const uint32_t key = keyAt(i);
      if ((key & mask) == prefix)
        atomicAdd(&scratch.histogram[(key >> shift) & (bins - 1)], 1u);
    }
    __syncthreads();
    const uint32_t perThread = (bins + blockDim.x - 1) / blockDim.x,
                   first = threadIdx.x * perThread;
    uint32_t sum = 0, total;
    for (uint32_t i = first; i < min(first + perThread, bins); ++i)
      sum += scratch.histogram[i];
    uint32_t before = blockPrefix(sum, scratch.warpSum, total);
    if (before < wanted && wanted <= before + sum)
      for (uint32_t i = first;; ++i) {
        const uint32_t inside = scratch.histogram[i];
        if (wanted <= before + inside) {
          scratch.digit = i, scratch.below = before, scratch.inside = inside;
          break;
        }
        before += inside;
      }
    __syncthreads();
    prefix |= scratch.digit << shift;
    mask |= (bins - 1) << shift;
    wanted -= scratch.below;
    if (scratch.inside == wanted) // The whole bin is taken: further digits decide nothing.
      break;
  }
  // Smaller than the prefix: all of them; equal to it: the first `wanted`.
  uint32_t takenBelow = 0, seenEqual = 0;
#pragma unroll 1
  for (uint32_t start = 0; start < n; start += blockDim.x) {
    const uint32_t i = start + threadIdx.x;
    uint32_t key = 0, flag = 0;
    if (i < n) {
      key = keyAt(i);
      flag = (key & mask) < prefix ? 1u : (key & mask) == prefix ? 0x10000u : 0u;
    }
    uint32_t total;
    const uint32_t rank = blockPrefix(flag, scratch.warpSum, total);
    const uint32_t below = takenBelow + (rank & 0xFFFF), equal = seenEqual + (rank >> 16);
    if (flag == 1 || (flag && equal < wanted))
      emit(below + min(equal, wanted), i, key);
    takenBelow += total & 0xFFFF, seenEqual += total >> 16;
  }
  __syncthreads();
}

/// Sorts `size` (a power of two) values of shared memory ascending. Ends with a barrier.
__device__ inline void bitonicSort(uint64_t *values, uint32_t size) {
  __syncthreads();
  for (uint32_t run = 2; run <= size; run *= 2)
    for (uint32_t step = run / 2; step > 0; step /= 2) {
      for (uint32_t i = threadIdx.x; i < size / 2; i += blockDim.x) {
        const uint32_t low = 2 * i - (i & (step - 1)), high = low + step;
        const uint64_t a = values[low], b = values[high];
        if ((a > b) == ((low & run) == 0))
          values[low] = b, values[high] = a;
      }
      __syncthreads();
    }
}

#endif // ANNUDF_KERNELS_CUDA_SELECT_CUH
