//===- Parts.cuh - The scan of a row by several warps -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The family "parts": what Scan.cu is with ANNUDF_PARTS.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_PARTS_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_PARTS_CUH

#include "ScanList.cuh"

namespace {

/// Scans list `list` for the query of `pair`, which is staged: the warps of a block share each
/// group, the first chunks of its rows to warp 0 and so on, and combine joins what they have. For
/// few queries and long vectors, where a warp a group would leave most of the machine waiting for
/// memory.
__device__ __forceinline__ void scanParts(const annudf_scan_args &args, uint32_t list,
                                          const uint32_t (&pair)[1]) {
  constexpr int kWarps = ANNUDF_SCAN_THREADS / 32;
  const Block block = blockOf(args, list);
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  static_assert(sizeof(Acc) * 32 * (kWarps - 1) <= ANNUDF_PARTS_BYTES, "room for the parts");
  // Behind the query, whose coordinates fill whole words of 16 bytes.
  Acc *parts = reinterpret_cast<Acc *>(tileWords + (block.dims + 3) / 4);

  int query[1];
  uint64_t out[1];
  placesOf(args, pair, query, out);
  const ListRows rows(args, list);
  const int share = (block.fullChunks + kWarps - 1) / kWarps;
  const int begin = min(warp * share, block.fullChunks), end = min(begin + share, block.fullChunks);
  for (uint32_t g = blockIdx.y; g < rows.groups; g += gridDim.y) {
    bool found;
    const int64_t row = rows.number(g, found);
    if (!isWanted<1>(args, out, g, found)) { // The same for every warp.
      if (warp == 0)
        skipGroup<1>(args, g, lane, 1, out);
      continue;
    }
    Acc acc[1] = {};
    init(acc[0], block.dims, query[0], block.list, block.slots);
    if (begin < end)
      updateFull(block, begin, end, rows.chunks(g), row, query, acc);
    __syncthreads(); // Warp 0 has read the parts of the group before.
    if (warp > 0)
      parts[(warp - 1) * 32 + lane] = acc[0];
    __syncthreads();
    if (warp > 0)
      continue;
#pragma unroll 1
    for (int w = 0; w < kWarps - 1; ++w)
      combine(acc[0], parts[w * 32 + lane], block.dims, row, query[0], block.list, block.slots);
    finishGroup<1>(args, block, rows.chunks(g), g, lane, 1, found, row, query, out, acc);
  }
}

} // namespace

/// Block (pair, segment): one query against one list, a group of its rows at a time.
extern "C" __global__ void __launch_bounds__(ANNUDF_SCAN_THREADS)
    annudf_scan_parts(const __grid_constant__ annudf_scan_args args) {
  const uint32_t pair[1] = {blockIdx.x};
  begin(args, pair);
  scanParts(args, reinterpret_cast<const uint32_t *>(args.work.probes)[blockIdx.x], pair);
}

#endif // ANNUDF_KERNELS_CUDA_SCAN_PARTS_CUH
