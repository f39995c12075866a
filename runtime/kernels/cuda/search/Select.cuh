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
// share their exponent and narrow ones would pile up in one counter; where few are wanted,
// a bound and the keys below it instead), then an ordered compaction that breaks ties by index.
// Rows of equal distance are chosen by their id instead: a radix select over the 64-bit ids of
// those that tie.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_SELECT_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_SELECT_CUH

#include "../common/ScanArgs.h"

#include <stdint.h>

struct SelectScratch {
  uint32_t histogram[2048];
  uint32_t warpSum[32];
  uint32_t digit, below, inside;
  unsigned long long common, any; ///< Bits that all values have, and that any has.
};

/// Exclusive prefix sum of `value` over the block; `total` gets the sum. The block is
/// a whole number of warps. Ends with a barrier.
__device__ __forceinline__ uint32_t blockPrefix(uint32_t value, uint32_t *warpSum,
                                                uint32_t &total) {
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  uint32_t inclusive = value;
#pragma unroll
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
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

/// Sets scratch.digit to the bin of the histogram that holds the `wanted`-th value, `below`
/// to the values of the bins before it and `inside` to its own. Starts and ends with a barrier.
__device__ __forceinline__ void findDigit(SelectScratch &scratch, uint32_t bins, uint32_t wanted) {
  __syncthreads();
  const uint32_t perThread = (bins + blockDim.x - 1) / blockDim.x, first = threadIdx.x * perThread;
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
}

/// The k smallest keys: those below `prefix` in the bits of `mask`, and `wanted` of the
/// `inside` that are equal to it there.
struct Threshold {
  uint32_t prefix, mask, wanted, inside;
};

/// Up to here a k is few.
constexpr uint32_t kMostOfFew = 32;

/// Up to `bound` are at least k of the keys of which `best` is each thread's least, all different
/// keys: the k-th of the bests of some buckets. A bucket's threads are far apart, so that the keys
/// of neighbours, a list's say, which may all be better than the rest, are spread over buckets.
/// \returns false where k is too large for that. Starts and ends with a barrier; afterwards
/// scratch.inside is 0.
__device__ __forceinline__ bool findBoundOfFew(SelectScratch &scratch, uint32_t best, uint32_t k,
                                               uint32_t &bound) {
  constexpr uint32_t kMostBuckets = 2 * kMostOfFew;
  uint32_t *bests = scratch.histogram, *ofThreads = bests + kMostBuckets;
  static_assert(kMostBuckets + 1024 <= sizeof scratch.histogram / sizeof(uint32_t),
                "a best of each thread");
  const uint32_t buckets = min(kMostBuckets, blockDim.x);
  if (2 * k > buckets)
    return false;
  __syncthreads();
  ofThreads[threadIdx.x] = best;
  if (threadIdx.x == 0)
    scratch.inside = 0;
  __syncthreads();
  uint32_t mine = ANNUDF_KEY_NONE;
  if (threadIdx.x < buckets) {
    for (uint32_t i = threadIdx.x; i < blockDim.x; i += buckets)
      mine = min(mine, ofThreads[i]);
    bests[threadIdx.x] = mine;
  }
  __syncthreads();
  if (const uint32_t b = threadIdx.x; b < buckets) {
    uint32_t rank = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < buckets; ++i)
      rank += bests[i] < mine || (bests[i] == mine && i < b);
    if (rank == k - 1)
      scratch.digit = mine;
  }
  __syncthreads();
  bound = scratch.digit;
  return true;
}

/// The same as findThreshold(), without counting digits, which many keys of one exponent do on one
/// counter: few keys but the k smallest reach the bound of findBoundOfFew(), so these are ranked
/// one by one. \returns false if there are too many of them.
template <class KeyAt>
__device__ bool findThresholdOfFew(SelectScratch &scratch, uint32_t n, uint32_t k, KeyAt keyAt,
                                   Threshold &found) {
  constexpr uint32_t kMost = 512;
  uint32_t *few = scratch.histogram + 1024;
  if (k > kMostOfFew)
    return false;
  uint32_t best = 0xFFFFFFFFu, bound;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    best = min(best, keyAt(i));
  if (!findBoundOfFew(scratch, best, k, bound))
    return false;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    if (const uint32_t key = keyAt(i); key <= bound)
      if (const uint32_t place = atomicAdd(&scratch.inside, 1u); place < kMost)
        few[place] = key;
  __syncthreads();
  const uint32_t count = scratch.inside;
  if (count > kMost)
    return false;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    uint32_t below = 0, equal = 0;
#pragma unroll 4
    for (uint32_t j = 0; j < count; ++j)
      below += few[j] < few[i], equal += few[j] == few[i];
    if (below < k && k <= below + equal) // All that are equal write the same.
      scratch.digit = few[i], scratch.below = below, scratch.inside = equal;
  }
  __syncthreads();
  found = {scratch.digit, 0xFFFFFFFFu, k - scratch.below, scratch.inside};
  __syncthreads();
  return true;
}

/// \param k  less than n.
template <class KeyAt>
__device__ Threshold findThreshold(SelectScratch &scratch, uint32_t n, uint32_t k, KeyAt keyAt) {
  Threshold t = {0, 0, k, n};
  if (findThresholdOfFew(scratch, n, k, keyAt, t))
    return t;
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {
    const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0;
    const uint32_t bins = pass == 2 ? 1024 : 2048;
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
      scratch.histogram[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
      const uint32_t key = keyAt(i);
      if ((key & t.mask) == t.prefix)
        atomicAdd(&scratch.histogram[(key >> shift) & (bins - 1)], 1u);
    }
    findDigit(scratch, bins, t.wanted);
    t.prefix |= scratch.digit << shift;
    t.mask |= (bins - 1) << shift;
    t.wanted -= scratch.below;
    t.inside = scratch.inside;
    if (t.inside == t.wanted) // The whole bin is taken: further digits decide nothing.
      break;
  }
  return t;
}

/// A bound up to which `wanted` of the values lie that valueAt(i, value) gives, returning
/// true, for some of i < n; more only where values are equal. At least `wanted` are given.
template <class ValueAt>
__device__ uint64_t findBound(SelectScratch &scratch, uint32_t n, uint32_t wanted,
                              ValueAt valueAt) {
  __syncthreads();
  if (threadIdx.x == 0)
    scratch.common = ~0ull, scratch.any = 0;
  __syncthreads();
  unsigned long long common = ~0ull, any = 0, value = 0;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    if (valueAt(i, value))
      common &= value, any |= value;
  atomicAnd(&scratch.common, common);
  atomicOr(&scratch.any, any);
  __syncthreads();
  // Bits from `high` on are the same in all: ids of a million rows differ in twenty.
  int high = 64 - __clzll(static_cast<long long>(scratch.common ^ scratch.any));
  auto upper = [](unsigned long long bits, int from) { return from == 64 ? 0ull : bits >> from; };
  unsigned long long prefix = high == 64 ? 0ull : scratch.common >> high << high;
#pragma unroll 1
  while (high > 0) {
    const int bits = min(high, 11), shift = high - bits;
    const uint32_t bins = 1u << bits;
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
      scratch.histogram[i] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
      if (valueAt(i, value) && upper(value, high) == upper(prefix, high))
        atomicAdd(&scratch.histogram[static_cast<uint32_t>(value >> shift) & (bins - 1)], 1u);
    findDigit(scratch, bins, wanted);
    prefix |= static_cast<unsigned long long>(scratch.digit) << shift;
    wanted -= scratch.below;
    high = shift;
    if (scratch.inside == wanted)
      break;
  }
  return prefix | ((1ull << high) - 1); // high is below 64 by now.
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
  const Threshold t = findThreshold(scratch, n, k, keyAt);
  const uint32_t prefix = t.prefix, mask = t.mask, wanted = t.wanted;
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

/// Keys that a thread keeps in registers between two looks at all of them.
constexpr int kOwnKeys = 8;

/// keyAt() of the thread's first keys, one each blockDim.x of n; all ones past the end.
template <class KeyAt>
__device__ __forceinline__ void readOwnKeys(uint32_t (&own)[kOwnKeys], uint32_t n, KeyAt keyAt) {
#pragma unroll
  for (int j = 0; j < kOwnKeys; ++j) {
    const uint32_t i = threadIdx.x + static_cast<uint32_t>(j) * blockDim.x;
    own[j] = i < n ? keyAt(i) : 0xFFFFFFFFu;
  }
}

/// Calls visit(i, key) for each of the thread's keys: of what readOwnKeys() read, or of keyAt().
template <class KeyAt, class Visit>
__device__ __forceinline__ void visitKeys(const uint32_t (&own)[kOwnKeys], uint32_t n, KeyAt keyAt,
                                          Visit visit) {
#pragma unroll
  for (int j = 0; j < kOwnKeys; ++j)
    if (const uint32_t i = threadIdx.x + static_cast<uint32_t>(j) * blockDim.x; i < n)
      visit(i, own[j]);
  for (uint32_t i = threadIdx.x + kOwnKeys * blockDim.x; i < n; i += blockDim.x)
    visit(i, keyAt(i));
}

/// The same as selectSmallest() in a few steps, but that places are in order of key and then index.
/// scratch.histogram[0..k) is free for what emit() keeps.
/// \returns false, with nothing emitted, where k or ties are too many for that.
template <class KeyAt, class Emit>
__device__ __forceinline__ bool selectFew(SelectScratch &scratch, uint32_t n, uint32_t k,
                                          KeyAt keyAt, Emit emit) {
  constexpr uint32_t kMost = 512;
  uint32_t *few = scratch.histogram + 1024, *at = few + kMost;
  if (n <= k || k > kMostOfFew)
    return false;
  uint32_t own[kOwnKeys], best = 0xFFFFFFFFu, bound;
  readOwnKeys(own, n, keyAt);
  visitKeys(own, n, keyAt, [&](uint32_t, uint32_t key) { best = min(best, key); });
  if (!findBoundOfFew(scratch, best, k, bound))
    return false;
  visitKeys(own, n, keyAt, [&](uint32_t i, uint32_t key) {
    if (key <= bound)
      if (const uint32_t place = atomicAdd(&scratch.inside, 1u); place < kMost)
        few[place] = key, at[place] = i;
  });
  __syncthreads();
  const uint32_t count = scratch.inside;
  if (count > kMost)
    return false;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t key = few[i], index = at[i];
    uint32_t rank = 0;
#pragma unroll 4
    for (uint32_t j = 0; j < count; ++j)
      rank += few[j] < key || (few[j] == key && at[j] < index);
    if (rank < k)
      emit(rank, index, key);
  }
  __syncthreads();
  return true;
}

/// Sorts `size` (a power of two) pairs of shared memory ascending, by key and then by id.
/// Ends with a barrier.
__device__ inline void bitonicSort(uint32_t *keys, int64_t *ids, uint32_t size) {
  __syncthreads();
  for (uint32_t run = 2; run <= size; run *= 2)
    for (uint32_t step = run / 2; step > 0; step /= 2) {
      for (uint32_t i = threadIdx.x; i < size / 2; i += blockDim.x) {
        const uint32_t low = 2 * i - (i & (step - 1)), high = low + step;
        const uint32_t a = keys[low], b = keys[high];
        const int64_t idA = ids[low], idB = ids[high];
        if ((a > b || (a == b && idA > idB)) == ((low & run) == 0)) {
          keys[low] = b, keys[high] = a;
          ids[low] = idB, ids[high] = idA;
        }
      }
      __syncthreads();
    }
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_SELECT_CUH
