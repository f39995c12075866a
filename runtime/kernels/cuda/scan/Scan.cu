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
// With ANNUDF_PARTS it is the kernel of metrics that have combine, with ANNUDF_CANDIDATES that of
// rows that lie anywhere, each a fragment by itself. A link keeps the one kernel that its search
// runs (Linker.cpp).
//
//===----------------------------------------------------------------------===//

#include "ScanList.cuh"

#ifdef ANNUDF_PARTS
#include "Parts.cuh"
#elif defined(ANNUDF_CANDIDATES)
#include "Candidates.cuh"
#include "Ranking.cuh"
#else
#ifndef ANNUDF_TEMPLATE // Tiles are linked as a whole.
#include "Tiles.cuh"
#endif

namespace {

/// Scans list `list` for the query of `pair`, which is staged. Its parts hold each hook as few
/// times as they can: every copy is inlined and optimised at link time, which the first search with
/// a metric waits for.
__device__ __forceinline__ void scanPair(const annudf_scan_args &args, uint32_t list,
                                         const uint32_t (&pair)[1]) {
  const Block block = blockOf(args, list);
  const int lane = threadIdx.x & 31;
  const uint32_t warp = threadIdx.x / 32;

  int query[1];
  uint64_t out[1];
  placesOf(args, pair, query, out);

  const ListRows rows(args, list);
  for (uint32_t g = blockIdx.y * (ANNUDF_SCAN_THREADS / 32) + warp; g < rows.groups;
       g += rows.step) {
    bool found;
    const int64_t row = rows.number(g, found);
    if (!isWanted<1>(args, out, g, found)) {
      skipGroup<1>(args, g, lane, 1, out);
      continue;
    }
    Acc acc[1] = {};
    init(acc[0], block.dims, query[0], block.list, block.slots);
    updateFull(block, 0, block.fullChunks, rows.chunks(g), row, query, acc);
    finishGroup<1>(args, block, rows.chunks(g), g, lane, 1, found, row, query, out, acc);
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
  scanPair(args, reinterpret_cast<const uint32_t *>(args.work.probes)[blockIdx.x], pair);
}

#endif // ANNUDF_PARTS, ANNUDF_CANDIDATES
