//===- Scan.cu - The scan of IVF-Flat lists, with the metric left open ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to LTO-IR, once for each form and pair of widths, and linked at run time with a
// metric's hooks and the constants of the search (Constant.cu). A lane owns a row and a
// warp a group of 32, so a hook runs on 32 rows at once and no reduction over lanes is
// needed. A thread keeps one accumulator for each query of its tile: a row is read, and
// each of its elements converted, once for them all. Queries are converted once a block.
//
// Every row's key goes to the workspace and every group's best key beside it; the
// selection (Search.cu) is exact from these two alone.
//
// With ANNUDF_PARTS it is the kernel of metrics that have combine, a fragment by itself. A link
// keeps the one kernel that its search runs (Linker.cpp).
//
//===----------------------------------------------------------------------===//

#include "ScanList.cuh"

#ifdef ANNUDF_PARTS
#include "Parts.cuh"
#else
#ifndef ANNUDF_TEMPLATE // Tiles are linked as a whole.
#include "Tiles.cuh"
#endif

namespace {

/// Scans list `list` for N queries: those of pairs[0..N). Slots past `count` repeat
/// the last pair and are not stored. stageQueries() came before. Its parts hold each hook as few
/// times as they can: every copy is inlined and optimised at link time, which the first search with
/// a metric waits for.
/// \tparam kAhead chunks of a row in flight.
template <int N, int kAhead>
__device__ __forceinline__ void scanList(const annudf_scan_args &args, uint32_t list,
                                         const uint32_t (&pair)[N], int count) {
  const Block block = blockOf(args, list);
  const int chunks = static_cast<int>(args.index.chunks);
  const int lane = threadIdx.x & 31;
  const uint32_t warp = threadIdx.x / 32;

  int query[N];
  uint64_t out[N];
  placesOf(args, pair, query, out);

  const uint32_t firstGroup = reinterpret_cast<const uint32_t *>(args.index.listGroup)[list];
  const uint32_t size = reinterpret_cast<const uint32_t *>(args.index.listSize)[list];
  const uint32_t groups = (size + 31) / 32;
  for (uint32_t g = blockIdx.y * (ANNUDF_SCAN_THREADS / 32) + warp; g < groups;
       g += gridDim.y * (ANNUDF_SCAN_THREADS / 32)) {
    const uint64_t group = firstGroup + g;
    const uint4 *rows =
        reinterpret_cast<const uint4 *>(args.index.rows) + group * chunks * 32 + lane;
    // Padding runs through the hooks as a row that exists, so that no capture is read
    // outside its extent.
    const bool exists = g * 32 + lane < size;
    const int64_t row = __ldg(reinterpret_cast<const long long *>(args.index.ids) + group * 32 +
                              (exists ? lane : 0));
    const bool found = passes(args, exists, row);
    if (args.filter != 0 && !__any_sync(0xFFFFFFFFu, found)) {
      skipGroup<N>(args, g, lane, count, out);
      continue;
    }

    Acc acc[N] = {};
#pragma unroll
    for (int j = 0; j < N; ++j)
      init(acc[j], block.dims, query[j], block.list, block.slots);
    updateFull<N, kAhead>(block, 0, block.fullChunks, rows, count, row, query, acc);
    finishGroup<N>(args, block, rows, g, lane, count, found, row, query, out, acc);
  }
}

} // namespace

#ifdef ANNUDF_TEMPLATE // Without, it takes up to 12 registers more than linked as a whole.
#define ANNUDF_PAIR_BOUNDS __launch_bounds__(ANNUDF_SCAN_THREADS, 8)
#else
#define ANNUDF_PAIR_BOUNDS __launch_bounds__(ANNUDF_SCAN_THREADS)
#endif

/// Block (pair, segment): one query against one list. For small batches, where the
/// lists of two queries are seldom the same.
extern "C" __global__ void ANNUDF_PAIR_BOUNDS
annudf_scan_pair(const __grid_constant__ annudf_scan_args args) {
  const uint32_t pair[1] = {blockIdx.x};
  begin(args, pair);
  scanList<1, ANNUDF_MOST_AHEAD>(
      args, reinterpret_cast<const uint32_t *>(args.work.probes)[blockIdx.x], pair, 1);
}

#endif // ANNUDF_PARTS
