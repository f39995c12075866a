//===- Tiles.cuh - The scan of a tile of queries ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "tiles". The part of Scan.cu that templates do not have.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_TILES_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_TILES_CUH

#include "ScanList.cuh"

namespace {

/// Chunks of rows on their way to shared memory: two batches ahead of the one in use. A lane reads
/// only what it has asked for itself.
struct Ahead {
  static constexpr int kBatch = ANNUDF_RING_BATCH, kBatches = ANNUDF_RING_BATCHES;
  uint4 *ring;        ///< The lane's first chunk.
  uint32_t group;     ///< The list's group that is asked for.
  const uint4 *chunk; ///< The lane's next in it.
  int batches;        ///< A group's.
  int batch = 0;      ///< The group's batch that is asked for next.
  int slot = 0;       ///< The ring's.
  int inUse = 0;      ///< The same.

  template <int N>
  __device__ __forceinline__ void ask(const ListRows &list, const uint64_t (&out)[N]) {
    if (group < list.groups && batches > 0) {
#pragma unroll
      for (int a = 0; a < kBatch; ++a) // The last may reach past the group.
        annudf_copy_ahead(ring + (slot * kBatch + a) * 32, chunk + a * 32);
      chunk += kBatch * 32;
      if (++batch == batches) {
        batch = 0, group = list.next<N>(group + list.step, out);
        chunk = list.chunks(group);
      }
    }
    slot = slot + 1 == kBatches ? 0 : slot + 1;
    annudf_end_copies();
  }
  /// Waits for the batch that was asked for first. \returns its first chunk.
  __device__ __forceinline__ const uint4 *take() {
    annudf_wait_for_copies();
    const uint4 *first = ring + inUse * (kBatch * 32);
    inUse = inUse + 1 == kBatches ? 0 : inUse + 1;
    return first;
  }
};

/// As scanList(), with more in flight than registers hold, from one group to the next: a tile's
/// blocks are too few to hide the end of each group otherwise. Stages the queries itself.
template <int N>
__device__ __forceinline__ void streamList(const annudf_scan_args &args, uint32_t list,
                                           const uint32_t (&pair)[N], int count) {
  const Block block = blockOf(args, list);
  const int lane = threadIdx.x & 31;
  const uint32_t warp = threadIdx.x / 32;
  const ListRows rows(args, list);
  int query[N];
  uint64_t out[N];
  placesOf(args, pair, query, out);
  const uint32_t first = blockIdx.y * (ANNUDF_SCAN_THREADS / 32) + warp,
                 begin = rows.next<N>(first, out);
  Ahead ahead = {tileWords + Staged<N>::chunks(block.dims) +
                     warp * (Ahead::kBatch * Ahead::kBatches * 32) + lane,
                 begin, rows.chunks(begin), (block.fullChunks + Ahead::kBatch - 1) / Ahead::kBatch};
#pragma unroll 1
  for (int i = 0; i < Ahead::kBatches - 1; ++i)
    ahead.ask<N>(rows, out);
  stageQueries<N>(args, pair); // While the first rows come.
  for (uint32_t g = first; g < rows.groups; g += rows.step) {
    bool found;
    const int64_t row = rows.number(g, found);
    if (!isWanted<N>(args, out, g, found)) {
      skipGroup<N>(args, g, lane, count, out);
      continue;
    }
    Acc acc[N] = {};
#pragma unroll
    for (int j = 0; j < N; ++j)
      init(acc[j], block.dims, query[j], block.list, block.slots);
#pragma unroll 1
    for (int c = 0; c < block.fullChunks;) {
      ahead.ask<N>(rows, out);
      const uint4 *chunk = ahead.take();
      const int end = min(c + Ahead::kBatch, block.fullChunks);
#pragma unroll 1
      for (; c < end; ++c, chunk += 32) {
        uint4 y = *chunk;
        updateChunk<N>(block, y, c, count, row, query, acc);
      }
    }
    finishGroup<N>(args, block, rows.chunks(g), g, lane, count, found, row, query, out, acc);
  }
}

} // namespace

/// Block (tile, segment): up to ANNUDF_TILE_QUERIES queries against one list. Tiles
/// of a list are neighbours, so the L2 cache serves all but the first. An accumulator of one word
/// leaves registers for eight blocks a processor, which ptxas uses only if it is told; 0 tells
/// nothing.
extern "C" __global__ void __launch_bounds__(ANNUDF_SCAN_THREADS, sizeof(Acc) == 4 ? 8 : 0)
    annudf_scan_tile(const __grid_constant__ annudf_scan_args args) {
  annudf_wait_for_last();
  const uint32_t tiles = reinterpret_cast<const uint32_t *>(args.work.tileStart)[args.index.nLists];
  const uint4 tile = __ldcg(reinterpret_cast<const uint4 *>(args.work.tiles) + blockIdx.x);
  if (blockIdx.x >= tiles) // The grid is an upper bound: the host does not wait for the count.
    return;
  const int count = static_cast<int>(tile.z);
  uint32_t pair[ANNUDF_TILE_QUERIES];
#pragma unroll
  for (int j = 0; j < ANNUDF_TILE_QUERIES; ++j)
    pair[j] = reinterpret_cast<const uint32_t *>(args.work.pairs)[tile.y + min(j, count - 1)];
  streamList<ANNUDF_TILE_QUERIES>(args, tile.x, pair, count);
}

#endif // ANNUDF_KERNELS_CUDA_SCAN_TILES_CUH
