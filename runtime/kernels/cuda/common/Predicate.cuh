//===- Predicate.cuh - Bits of a predicate, for rows of probed lists -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A predicate that sees the query is computed before the scan: a word for each query and group of
// its probed lists, where the scan leaves the group's best key.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_COMMON_PREDICATE_CUH
#define ANNUDF_KERNELS_CUDA_COMMON_PREDICATE_CUH

#include "ScanArgs.h"

#include <cstdint>

extern __shared__ uint32_t wordsOfBlock[]; // ANNUDF_PREDICATE_SHARED_BYTES

namespace {

constexpr uint32_t kQueriesAtOnce = 8; ///< Code loads what it reads of a row once for all of these.

/// The word with a number below kQueriesAtOnce, by selects alone.
__device__ __forceinline__ uint32_t pick(const uint32_t (&words)[kQueriesAtOnce], uint32_t which) {
  uint32_t left[kQueriesAtOnce];
#pragma unroll
  for (uint32_t i = 0; i < kQueriesAtOnce; ++i)
    left[i] = words[i];
#pragma unroll
  for (uint32_t step = 1; step < kQueriesAtOnce; step *= 2)
#pragma unroll
    for (uint32_t i = 0; i < kQueriesAtOnce; i += 2 * step)
      left[i] = (which & step) != 0 ? left[i + step] : left[i];
  return left[0];
}

/// The rows of a list's group that the queries of up to 32 pairs may find: this lane's word.
/// \param query  the lane's, in the batch; of lanes from `count` on any.
/// \param keep   of a row's number, a query's number in the caller's batch and a list.
template <class Keep>
__device__ __forceinline__ uint32_t wordOfLane(const annudf_predicate_args &args, uint32_t list,
                                               bool exists, int64_t row, uint32_t query,
                                               uint32_t count, Keep keep) {
  const uint32_t lane = threadIdx.x & 31;
  const int number = args.base + static_cast<int>(query);
  uint32_t mine = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < count; first += kQueriesAtOnce) {
    int queries[kQueriesAtOnce];
    bool kept[kQueriesAtOnce];
    uint32_t words[kQueriesAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kQueriesAtOnce; ++i)
      queries[i] = __shfl_sync(0xFFFFFFFFu, number, static_cast<int>(first + i));
#pragma unroll
    for (uint32_t i = 0; i < kQueriesAtOnce; ++i)
      kept[i] = keep(row, queries[i], static_cast<int>(list));
#pragma unroll
    for (uint32_t i = 0; i < kQueriesAtOnce; ++i)
      words[i] = __ballot_sync(0xFFFFFFFFu, exists && kept[i]);
    const uint32_t own = pick(words, lane % kQueriesAtOnce);
    mine = lane / kQueriesAtOnce == first / kQueriesAtOnce ? own : mine;
  }
  return args.negated != 0 ? mine ^ __ballot_sync(0xFFFFFFFFu, exists) : mine;
}

/// Block (tile, segment), or (pair, segment) where pairs are not sorted; a warp takes a group, and
/// a lane a row of it.
template <class Keep>
__device__ __forceinline__ void writeWords(const annudf_predicate_args &args, Keep keep) {
  const annudf_workspace &work = args.work;
  const auto numbers = [](uint64_t address) { return reinterpret_cast<const uint32_t *>(address); };
  uint4 tile = make_uint4(0, 0, 1, 0); // List, first pair, number of pairs, first group.
  if (work.tileQueries == 0)
    tile.x = numbers(work.probes)[blockIdx.x];
  else if (blockIdx.x < numbers(work.tileStart)[args.index.nLists]) // The grid is an upper bound.
    tile = reinterpret_cast<const uint4 *>(work.tiles)[blockIdx.x];
  else
    return;
  constexpr uint32_t kWarps = ANNUDF_SCAN_THREADS / 32;
  // Words of a query's groups are written side by side.
  constexpr uint32_t kRow = ANNUDF_PREDICATE_STRIDE;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const uint32_t size = numbers(args.index.listSize)[tile.x];
  const uint32_t groups = tile.w + min((size + 31) / 32 - tile.w, work.segmentGroups);
  const uint64_t firstGroup = numbers(args.index.listGroup)[tile.x];
  // As ListRows::number() has it.
  const auto numberOf = [&](uint64_t slot) {
    if (args.rowsAreSlots == 0)
      return reinterpret_cast<const int64_t *>(args.index.ids)[slot];
    return static_cast<int64_t>(
        args.index.layout == ANNUDF_ROWS_BY_NUMBER ? numbers(args.index.numbers)[slot] : slot);
  };
  // Candidates of a query are a list, but to hooks all rows are one.
  const uint32_t list = args.index.layout == ANNUDF_ROWS_IN_GROUPS ? tile.x : 0;
  const auto pairOf = [&](uint32_t i) {
    return work.tileQueries == 0 ? blockIdx.x : numbers(work.pairs)[tile.y + i];
  };
  for (uint32_t g = tile.w + blockIdx.y * kWarps; g < groups; g += gridDim.y * kWarps) {
    const uint32_t own = min(g + warp, groups - 1);
    const bool exists = g + warp < groups && own * 32 + lane < size;
    // Padding runs as a row that exists, so that nothing is read outside its extent.
    const uint64_t slot = (firstGroup + own) * 32 + (exists ? lane : 0);
    const int64_t row = numberOf(slot);
    for (uint32_t first = 0; first < tile.z; first += 32) {
      const uint32_t count = min(tile.z - first, 32u);
      const uint32_t query = pairOf(first + min(lane, count - 1)) / work.nProbes;
      wordsOfBlock[warp * kRow + lane] = wordOfLane(args, list, exists, row, query, count, keep);
      __syncthreads();
      const uint32_t mine = threadIdx.x / kWarps, group = threadIdx.x % kWarps;
      if (mine < count && g + group < groups) {
        const uint32_t pair = pairOf(first + mine);
        reinterpret_cast<uint32_t *>(
            args.words)[static_cast<uint64_t>(pair / work.nProbes) * work.stride +
                        numbers(work.probeGroup)[pair] + g + group] =
            wordsOfBlock[group * kRow + mine];
      }
      __syncthreads();
    }
  }
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_COMMON_PREDICATE_CUH
