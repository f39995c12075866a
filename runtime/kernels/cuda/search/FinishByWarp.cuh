//===- FinishByWarp.cuh - The best of few rows ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A query whose rows are few, such as candidates, needs no block: a warp holds all keys in
// registers and waits for nobody. Finds what annudf_finish finds.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_FINISHBYWARP_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_FINISHBYWARP_CUH

#include "Finish.cuh"

namespace {

/// The keys of a query, one of each group in a lane; all ones past the last group.
struct WarpKeys {
  uint32_t key[ANNUDF_FINISH_WARP_GROUPS];

  __device__ __forceinline__ WarpKeys(const uint32_t *keys, uint32_t groups, uint32_t lane) {
#pragma unroll
    for (uint32_t g = 0; g < ANNUDF_FINISH_WARP_GROUPS; ++g)
      key[g] = g < groups ? keys[g * 32 + lane] : ANNUDF_KEY_NONE;
  }
  /// Keys of the warp below a bound.
  __device__ __forceinline__ uint32_t below(uint32_t bound, uint32_t groups) const {
    uint32_t count = 0;
#pragma unroll
    for (uint32_t g = 0; g < ANNUDF_FINISH_WARP_GROUPS; ++g)
      if (g < groups)
        count += __popc(__ballot_sync(0xFFFFFFFFu, key[g] < bound));
    return count;
  }
  /// The k-th smallest, a bit at a time; all ones where there are fewer.
  __device__ __forceinline__ uint32_t kth(uint32_t k, uint32_t groups) const {
    uint32_t least = 0;
#pragma unroll 1
    for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1)
      if (below(least | bit, groups) < k)
        least |= bit;
    return least;
  }
};

/// The least of the warp's values.
__device__ __forceinline__ unsigned long long leastOfWarp(unsigned long long least) {
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xFFFFFFFFu, least, bit);
    least = other < least ? other : least;
  }
  return least;
}

/// The best rows of a query, a lane each.
struct BestOfLane {
  uint32_t key = ANNUDF_KEY_NONE;
  int64_t id = INT64_MAX;
};

/// The `wanted` rows with the least ids, of those with that key: for lanes from `first` on. Ids may
/// be repeated: all rows of an id are taken before the next. Rare, so not inlined.
__device__ __noinline__ BestOfLane leastIds(const Scanned &scanned, uint32_t groups, uint32_t key,
                                            uint32_t first, uint32_t wanted) {
  constexpr unsigned long long kSign = 1ull << 63; // Ascending as signed.
  const uint32_t lane = threadIdx.x & 31;
  const auto idAt = [&](uint32_t g) {
    return static_cast<unsigned long long>(scanned.idOf(g * 32 + lane)) ^ kSign;
  };
  const auto has = [&](uint32_t g) { return scanned.keys[g * 32 + lane] == key; };
  BestOfLane best;
  for (unsigned long long after = 0; wanted != 0;) { // Ids below it are taken.
    unsigned long long least = ~0ull;
    for (uint32_t g = 0; g < groups; ++g)
      if (has(g) && idAt(g) >= after)
        least = min(least, idAt(g));
    least = leastOfWarp(least);
    uint32_t rows = 0;
    for (uint32_t g = 0; g < groups; ++g)
      rows += __popc(__ballot_sync(0xFFFFFFFFu, has(g) && idAt(g) == least));
    rows = min(rows, wanted);
    if (lane >= first && lane < first + rows)
      best.key = key, best.id = static_cast<int64_t>(least ^ kSign);
    first += rows, wanted -= rows, after = least + 1;
  }
  return best;
}

} // namespace

/// A warp for each query, of at most ANNUDF_FINISH_WARP_GROUPS groups.
/// \param args.k  at most ANNUDF_FINISH_WARP_K.
extern "C" __global__ void __launch_bounds__(ANNUDF_FINISH_WARP_THREADS)
    annudf_finish_by_warp(const __grid_constant__ annudf_finish_args args, uint32_t queries) {
  __shared__ uint32_t placeOf[ANNUDF_FINISH_WARP_THREADS];
  waitForLast();
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const uint32_t query = blockIdx.x * (blockDim.x / 32) + warp;
  if (query >= queries)
    return;
  const annudf_workspace &work = args.work;
  const uint32_t groups = annudfPointer<const uint32_t>(work.groupCount)[query], k = args.k;
  const Scanned scanned = {args, static_cast<uint64_t>(query) * work.nProbes,
                           annudfPointer<const uint32_t>(work.keys) +
                               static_cast<uint64_t>(query) * work.stride * 32};
  const WarpKeys keys(scanned.keys, groups, lane);
  const uint32_t kth = keys.kth(k, groups);
  const uint32_t below = keys.below(kth, groups);
  // Places of the rows below, then of those that tie with the k-th if they fit.
  uint32_t *const places = placeOf + warp * 32;
  uint32_t taken = 0, tied = 0;
#pragma unroll
  for (uint32_t g = 0; g < ANNUDF_FINISH_WARP_GROUPS; ++g) {
    if (g >= groups)
      continue;
    const bool isBelow = keys.key[g] < kth;
    const bool isTied = keys.key[g] == kth && kth != ANNUDF_KEY_NONE;
    const uint32_t all = __ballot_sync(0xFFFFFFFFu, isBelow),
                   ties = __ballot_sync(0xFFFFFFFFu, isTied), before = (1u << lane) - 1;
    if (isBelow)
      places[taken + __popc(all & before)] = g * 32 + lane;
    if (const uint32_t place = below + tied + __popc(ties & before); isTied && place < k)
      places[place] = g * 32 + lane;
    taken += __popc(all), tied += __popc(ties);
  }
  __syncwarp();
  const uint32_t found = min(k, below + tied);
  BestOfLane best;
  if (lane < found && (lane < below || below + tied <= k)) {
    best.key = scanned.keys[places[lane]];
    best.id = scanned.idOf(places[lane]);
  }
  if (below + tied > k) {
    const BestOfLane least = leastIds(scanned, groups, kth, below, k - below);
    best = lane < below ? best : least;
  }
  uint32_t rank = 0;
#pragma unroll 8
  for (uint32_t other = 0; other < 32; ++other) {
    const uint32_t key = __shfl_sync(0xFFFFFFFFu, best.key, other);
    const int64_t id = __shfl_sync(0xFFFFFFFFu, best.id, other);
    rank +=
        key < best.key || (key == best.key && (id < best.id || (id == best.id && other < lane)));
  }
  if (rank < k) {
    const uint64_t out = static_cast<uint64_t>(query) * k + rank;
    annudfPointer<int64_t>(args.outIds)[out] = best.key != ANNUDF_KEY_NONE ? best.id : -1;
    annudfPointer<float>(args.outDistances)[out] =
        annudfDistanceOf(best.key, static_cast<int>(args.order));
  }
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_FINISHBYWARP_CUH
