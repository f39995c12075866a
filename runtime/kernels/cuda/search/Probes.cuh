//===- Probes.cuh - The lists that a query probes, by one warp ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists with the smallest keys, ties by list number, as selectSmallest() of Select.cuh chooses
// them by a block: where ANNUDF_CHOSEN_BY_WARP says so. The k-th key is found by halving the
// interval it lies in and counting; a warp needs no barriers for that.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_PROBES_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_PROBES_CUH

#include "../common/ScanArgs.h"

#include <stdint.h>

/// One warp's, in shared memory.
struct ProbeScratch {
  static constexpr uint32_t kMost = 256;
  uint32_t key[kMost], list[kMost]; ///< Lists that may be chosen, in order.
  uint32_t chosen[32];
};

namespace {

constexpr uint32_t kEveryLane = 0xFFFFFFFFu;

__device__ __forceinline__ uint32_t warpSum(uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kEveryLane, value);
#else
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2)
    value += __shfl_xor_sync(kEveryLane, value, bit);
  return value;
#endif
}
__device__ __forceinline__ uint32_t warpMin(uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kEveryLane, value);
#else
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2)
    value = min(value, __shfl_xor_sync(kEveryLane, value, bit));
  return value;
#endif
}
__device__ __forceinline__ uint32_t warpMax(uint32_t value) { return ~warpMin(~value); }

/// Keys that a warp holds in registers, 32 N in order; all ones past the end.
template <int N> struct KeysOfWarp {
  uint32_t key[N];
  __device__ __forceinline__ void read(const uint32_t *keys, uint32_t n) {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const uint32_t i = static_cast<uint32_t>(j) * 32 + (threadIdx.x & 31);
      key[j] = i < n ? keys[i] : ANNUDF_KEY_NONE;
    }
  }
  /// visit(i, key) by all lanes at a time, in order of i.
  template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
#pragma unroll
    for (int j = 0; j < N; ++j)
      visit(static_cast<uint32_t>(j) * 32 + (threadIdx.x & 31), key[j]);
  }
};

/// The same of keys in memory, read anew by each pass.
struct KeysInMemory {
  const uint32_t *keys;
  uint32_t n;
  template <class Visit> __device__ __forceinline__ void each(Visit visit) const {
#pragma unroll 8
    for (uint32_t start = 0; start < n; start += 32) {
      const uint32_t i = start + (threadIdx.x & 31);
      visit(i, i < n ? keys[i] : ANNUDF_KEY_NONE);
    }
  }
};

/// Narrows [low, high], in which the k-th key lies, until it is `high`, or until all up to `high`
/// are k. \param upTo  how many of this lane's keys are up to one.
template <class UpTo>
__device__ __forceinline__ void halve(uint32_t k, uint32_t &low, uint32_t &high, UpTo upTo) {
#pragma unroll 1
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2, count = warpSum(upTo(middle));
    if (count < k) {
      low = middle + 1;
      continue;
    }
    high = middle;
    if (count == k)
      break;
  }
}

/// Calls emit(place, i) for the k smallest keys, of equal ones those of the smallest i, by places
/// in order of i. The k-th lies in [low, high].
template <class Keys, class Emit>
__device__ __forceinline__ void chooseOf(const Keys &keys, uint32_t k, uint32_t low, uint32_t high,
                                         Emit emit) {
  halve(k, low, high, [&](uint32_t bound) {
    uint32_t mine = 0;
    keys.each([&](uint32_t, uint32_t key) { mine += key <= bound; });
    return mine;
  });
  uint32_t wanted = ANNUDF_KEY_NONE; // How many of those that equal `high`.
  if (low == high) {                 // Else all up to `high` are k.
    uint32_t mine = 0;
    keys.each([&](uint32_t, uint32_t key) { mine += key < high; });
    wanted = k - warpSum(mine);
  }
  const uint32_t before = (1u << (threadIdx.x & 31)) - 1;
  uint32_t taken = 0, equal = 0;
  keys.each([&](uint32_t i, uint32_t key) {
    const uint32_t same = __ballot_sync(kEveryLane, key == high);
    const bool take = key < high || (key == high && equal + __popc(same & before) < wanted);
    const uint32_t all = __ballot_sync(kEveryLane, take);
    if (take)
      emit(taken + __popc(all & before), i);
    taken += __popc(all), equal += __popc(same);
  });
}

/// chooseOf() of keys that no warp holds. Rare, so not inlined.
__device__ __noinline__ void chooseOfMany(const uint32_t *keys, uint32_t n, uint32_t k,
                                          uint32_t low, uint32_t high, uint32_t *lists) {
  chooseOf(KeysInMemory{keys, n}, k, low, high,
           [&](uint32_t place, uint32_t i) { lists[place] = i; });
}

/// The k smallest of the keys up to `bound`, which are at least k: collected first. \returns false,
/// with nothing written, where they are too many: equal ones, or in an order that is against it.
template <class Keys>
__device__ __forceinline__ bool chooseUpTo(ProbeScratch &scratch, const Keys &keys, uint32_t n,
                                           uint32_t k, uint32_t low, uint32_t bound,
                                           uint32_t *lists) {
  const uint32_t before = (1u << (threadIdx.x & 31)) - 1;
  uint32_t count = 0;
  keys.each([&](uint32_t i, uint32_t key) {
    const bool may = i < n && key <= bound;
    const uint32_t all = __ballot_sync(kEveryLane, may);
    const uint32_t place = count + __popc(all & before);
    if (may && place < ProbeScratch::kMost)
      scratch.key[place] = key, scratch.list[place] = i;
    count += __popc(all);
  });
  __syncwarp();
  if (count > ProbeScratch::kMost)
    return false;
  KeysOfWarp<ProbeScratch::kMost / 32> few;
  few.read(scratch.key, count);
  chooseOf(few, k, low, bound, [&](uint32_t place, uint32_t i) { lists[place] = scratch.list[i]; });
  return true;
}

/// The least key, and a bound that k keys reach: the k-th of the bests of 128 buckets. Few more
/// reach it, some 37 of 32; of as many buckets as lanes it is 130 on average, and of one query in
/// hundreds more than chooseUpTo() has room for, which all others of a batch then wait for.
/// \param k  at most 128.
__device__ __forceinline__ void boundOfBuckets(const uint32_t *keys, uint32_t n, uint32_t k,
                                               uint32_t &low, uint32_t &high) {
  constexpr int kOfLane = 4;
  uint32_t best[kOfLane];
#pragma unroll
  for (int b = 0; b < kOfLane; ++b)
    best[b] = ANNUDF_KEY_NONE;
#pragma unroll 4
  for (uint32_t start = 0; start < n; start += kOfLane * 32)
#pragma unroll
    for (int b = 0; b < kOfLane; ++b)
      if (const uint32_t i = start + static_cast<uint32_t>(b) * 32 + (threadIdx.x & 31); i < n)
        best[b] = min(best[b], keys[i]);
  low = warpMin(min(min(best[0], best[1]), min(best[2], best[3])));
  high = warpMax(max(max(best[0], best[1]), max(best[2], best[3])));
  uint32_t least = low;
  halve(k, least, high, [&](uint32_t bound) {
    uint32_t mine = 0;
#pragma unroll
    for (int b = 0; b < kOfLane; ++b)
      mine += best[b] <= bound;
    return mine;
  });
}

/// Writes the k lists of the smallest of n keys. \param k  at most n.
__device__ __forceinline__ void chooseByWarp(ProbeScratch &scratch, const uint32_t *keys,
                                             uint32_t n, uint32_t k, uint32_t *lists) {
  if (n > 1024) {
    uint32_t low, high;
    boundOfBuckets(keys, n, k, low, high);
    if (!chooseUpTo(scratch, KeysInMemory{keys, n}, n, k, low, high, lists))
      chooseOfMany(keys, n, k, low, high, lists);
    return;
  }
  uint32_t best = ANNUDF_KEY_NONE;
  const auto look = [&](uint32_t, uint32_t key) { best = min(best, key); };
  KeysOfWarp<32> held;
  held.read(keys, n);
  held.each(look);
  // The best of each lane's: 32 keys are no larger than the largest of them.
  const uint32_t low = warpMin(best), high = k <= 32 ? warpMax(best) : ANNUDF_KEY_NONE;
  if (k > 32 || !chooseUpTo(scratch, held, n, k, low, high, lists))
    chooseOf(held, k, low, high, [&](uint32_t place, uint32_t i) { lists[place] = i; });
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SEARCH_PROBES_CUH
