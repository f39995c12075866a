//===- Ranking.cuh - The best candidates of a query by one block ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As Candidates.cuh, where a query has so few candidates that a block holds all keys and selects
// the best. A warp brings whole rows, one after the other, as memory reads adjacent bytes fastest;
// shared memory hands each to its lane.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_RANKING_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_RANKING_CUH

#include "../common/RankArgs.h"
#include "Candidates.cuh"

namespace {

/// A block's query and its candidates, in shared memory.
struct Ranking {
  const annudf_rank_args &args;
  uint4 *slab; ///< The warp's rows.
  int64_t *id;
  uint32_t *key; ///< A row's number until it has a key.
  uint32_t size; ///< Candidates.

  __device__ __forceinline__ explicit Ranking(const annudf_rank_args &args) : args(args) {
    uint4 *const slabs = tileWords + Staged<1>::chunks(static_cast<int>(args.scan.index.dims));
    const uint32_t each = args.rows * (args.chunks + 1);
    slab = slabs + threadIdx.x / 32 * each;
    id = reinterpret_cast<int64_t *>(slabs + blockDim.x / 32 * each);
    key = reinterpret_cast<uint32_t *>(id + args.places);
    size = 0;
  }

  /// Ids and numbers of the rows.
  __device__ __forceinline__ void bringRows() {
    const annudf_device_index &index = args.scan.index;
    const uint32_t list = args.firstList + blockIdx.x;
    const uint32_t first = reinterpret_cast<const uint32_t *>(index.listGroup)[list] * 32;
    size = reinterpret_cast<const uint32_t *>(index.listSize)[list];
    for (uint32_t i = threadIdx.x; i < args.places; i += blockDim.x) {
      const int64_t own = __ldg(reinterpret_cast<const long long *>(index.ids) + first + i);
      id[i] = own;
      key[i] = index.layout == ANNUDF_ROWS_BY_NUMBER
                   ? __ldg(reinterpret_cast<const uint32_t *>(index.numbers) + first + i)
               : index.layout == ANNUDF_ROWS_BY_ID ? static_cast<uint32_t>(own)
                                                   : first + i;
    }
  }

  __device__ __forceinline__ const uint4 *rowOf(uint32_t number) const {
    const annudf_device_index &index = args.scan.index;
    const auto *rows = reinterpret_cast<const uint4 *>(index.rows);
    return index.layout == ANNUDF_ROWS_BY_NUMBER
               ? rows + static_cast<uint64_t>(number / 32) * index.chunks * 32 + number % 32
               : rows + static_cast<uint64_t>(number) * index.chunks;
  }

  /// Brings chunks [begin, end) of `count` rows to the slab. All lanes of the warp call together.
  /// \param own  the lane's row.
  __device__ __forceinline__ void bringChunks(const uint4 *own, int stride, uint32_t count,
                                              uint32_t begin, uint32_t end) const {
    const uint32_t lane = threadIdx.x % 32, part = lane % args.chunks, row = lane / args.chunks;
    const uint32_t together = 32 / args.chunks;
    const auto address = reinterpret_cast<unsigned long long>(own);
    __syncwarp(); // All lanes are done with what is there.
#pragma unroll 4
    for (uint32_t r = row; r - row < count; r += together) {
      const auto *from = reinterpret_cast<const uint4 *>(__shfl_sync(0xFFFFFFFFu, address, r % 32));
      if (r < count && begin + part < end)
        annudf_copy_ahead(slab + r * (args.chunks + 1) + part,
                          from + static_cast<int64_t>(begin + part) * stride);
    }
    // Two batches of nothing are behind it, which are not waited for.
    annudf_end_copies(), annudf_end_copies(), annudf_end_copies();
    static_assert(ANNUDF_RING_BATCHES == 3, "what is waited for");
    annudf_wait_for_copies();
    __syncwarp(); // Other lanes have asked for it.
  }

  /// A lane for each of `count` candidates from `first` on: what its key is.
  __device__ __forceinline__ void score(const Block &block, const int (&query)[1], uint32_t first,
                                        uint32_t count) const {
    const annudf_scan_args &scan = args.scan;
    const uint32_t lane = threadIdx.x % 32, line = min(lane, count - 1), place = first + line;
    const uint32_t number = key[place];
    const uint4 *own = rowOf(number);
    const int64_t row = scan.rowsAreSlots ? static_cast<int64_t>(number) : id[place];
    const bool isFound = passes(scan, lane < count, id[place]);
    const auto full = static_cast<uint32_t>(block.fullChunks);
    Acc acc[1] = {};
    init(acc[0], block.dims, query[0], block.list, block.slots);
#pragma unroll 1
    for (uint32_t begin = 0; begin < full; begin += args.chunks) {
      const uint32_t end = min(begin + args.chunks, full);
      bringChunks(own, block.chunkStride, count, begin, end);
      const uint4 *chunk = slab + line * (args.chunks + 1);
#pragma unroll 1
      for (uint32_t c = begin; c < end; ++c, ++chunk) {
        uint4 y = *chunk;
        updateChunk<1>(block, y, static_cast<int>(c), 1, row, query, acc);
      }
    }
    updateEnd<1>(block, own, row, query[0], 0, acc[0]);
    const float distance = finalize(acc[0], block.dims, row, query[0], block.list, block.slots);
    const uint32_t mine =
        isFound ? annudfKeyOf(distance, static_cast<int>(scan.order)) : ANNUDF_KEY_NONE;
    __syncwarp(); // All lanes have read their rows' numbers.
    if (lane < count)
      key[place] = mine;
    const bool isNan = isFound && mine == ANNUDF_KEY_NONE;
    if (__any_sync(0xFFFFFFFFu, isNan))
      addNanOfWarp(scan, static_cast<int>(lane), isNan, query[0], id[place]);
  }

  /// Ends without a barrier.
  __device__ __forceinline__ void scoreAll() const {
    Block block = blockOf(args.scan, 0); // To hooks all rows are one list.
    const int query[1] = {args.scan.queries.base + static_cast<int>(blockIdx.x)};
#pragma unroll 1
    for (uint32_t first = threadIdx.x / 32 * args.rows; first < size;
         first += blockDim.x / 32 * args.rows)
      score(block, query, first, min(args.rows, size - first));
  }

  /// A key that k rows' keys are not above, and few more are; ANNUDF_KEY_NONE where there is none
  /// or k is more than a warp's lanes: the k-th of the lanes' least. For a warp.
  __device__ __forceinline__ uint32_t limit() const {
    constexpr uint32_t kAll = 0xFFFFFFFFu;
    const uint32_t lane = threadIdx.x % 32;
    if (args.k > 32)
      return ANNUDF_KEY_NONE;
    uint32_t least = ANNUDF_KEY_NONE;
    for (uint32_t i = lane; i < size; i += 32)
      least = min(least, key[i]);
    uint32_t before = 0;
#pragma unroll 8
    for (uint32_t o = 0; o < 32; ++o) {
      const uint32_t other = __shfl_sync(kAll, least, o);
      before += other < least || (other == least && o < lane);
    }
    const uint32_t kth = __ballot_sync(kAll, before == args.k - 1);
    return __shfl_sync(kAll, least, __ffs(static_cast<int>(kth)) - 1);
  }

  /// Writes the best in order, which one warp does. Ids of candidates differ, so no two rows have
  /// one rank.
  __device__ __forceinline__ void writeBest() const {
    constexpr uint32_t kAll = 0xFFFFFFFFu;
    const uint32_t lane = threadIdx.x % 32, most = limit();
    auto *const some = reinterpret_cast<uint32_t *>(slab); // Places of rows up to the limit.
    uint32_t count = 0;
#pragma unroll 1
    for (uint32_t first = 0; first < size; first += 32) {
      const uint32_t i = first + lane, own = i < size ? key[i] : ANNUDF_KEY_NONE;
      const bool is = own <= most && own != ANNUDF_KEY_NONE;
      const uint32_t with = __ballot_sync(kAll, is);
      if (is)
        some[count + __popc(with & ((1u << lane) - 1))] = i;
      count += __popc(with);
    }
    __syncwarp();
    const int order = static_cast<int>(args.scan.order);
    const uint64_t out = uint64_t(blockIdx.x) * args.k;
    auto *const ids = reinterpret_cast<int64_t *>(args.outIds) + out;
    auto *const distances = reinterpret_cast<float *>(args.outDistances) + out;
#pragma unroll 1
    for (uint32_t s = lane; s < count; s += 32) {
      const uint32_t own = key[some[s]];
      const int64_t of = id[some[s]];
      uint32_t rank = 0;
#pragma unroll 2
      for (uint32_t o = 0; o < count; ++o) {
        const uint32_t other = key[some[o]];
        rank += other < own || (other == own && id[some[o]] < of);
      }
      if (rank < args.k)
        ids[rank] = of, distances[rank] = annudfDistanceOf(own, order);
    }
    for (uint32_t i = count + lane; i < args.k; i += 32)
      ids[i] = -1, distances[i] = annudfDistanceOf(ANNUDF_KEY_NONE, order);
  }
};

} // namespace

/// A block for each query: the k best of its list.
extern "C" __global__ void __launch_bounds__(ANNUDF_RANK_THREADS)
    annudf_rank_candidates(const __grid_constant__ annudf_rank_args args) {
  Ranking ranking(args);
  annudf_wait_for_last();
  ranking.bringRows();
  const annudf_queries &queries = args.scan.queries;
  for (uint32_t d = threadIdx.x; d < args.scan.index.dims; d += blockDim.x)
    Staged<1>::put(d, 0,
                   reinterpret_cast<const uint8_t *>(queries.data) +
                       static_cast<uint64_t>(blockIdx.x) * queries.rowBytes);
  __syncthreads();
  ranking.scoreAll();
  __syncthreads();
  if (threadIdx.x < 32)
    ranking.writeBest();
}

#endif // ANNUDF_KERNELS_CUDA_SCAN_RANKING_CUH
