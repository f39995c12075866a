//===- Search.cu - Everything of a search that no metric touches ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regrouping of uploaded lists, coarse distances, the choice of lists, the sort of
// (query, list) pairs into tiles, and the final top-k. Ordinary device code, shipped
// for every architecture; the scan itself is Scan.cu.
//
//===----------------------------------------------------------------------===//

#include "Coarse.cuh"
#include "DealProbes.cuh"
#include "FilterBits.cuh"
#include "Finish.cuh"
#include "Merge.cuh"
#include "Radius.cuh"
#include "Regroup.cuh"

/// Tiles that each `queries` of a list's pairs open, one a segment of its rows.
__device__ __forceinline__ uint32_t segmentsOf(const annudf_device_index &index,
                                               const annudf_workspace &work, uint32_t list) {
  const uint32_t groups = (pointer<const uint32_t>(index.listSize)[list] + 31) / 32;
  return groups == 0 ? 0 : (groups - 1) / work.segmentGroups + 1;
}

/// One block: prefix sums over the lists of their pairs and tiles. Zeroes the counts
/// for the next search, and the ticket of this one.
extern "C" __global__ void annudf_tile_offsets(annudf_device_index index, annudf_workspace work) {
  letNextBegin();
  waitForLast();
  __shared__ uint32_t warpSum[32];
  uint32_t *count = pointer<uint32_t>(work.listPairs);
  uint32_t pairBase = 0, tileBase = 0;
  for (uint32_t start = 0; start <= index.nLists; start += blockDim.x) {
    const uint32_t list = start + threadIdx.x;
    const uint32_t mine = list < index.nLists ? count[list] : 0;
    const uint32_t tiles = mine == 0 ? 0
                                     : (mine + work.tileQueries - 1) / work.tileQueries *
                                           segmentsOf(index, work, list);
    uint32_t pairTotal, tileTotal;
    const uint32_t pair = blockPrefix(mine, warpSum, pairTotal);
    const uint32_t tile = blockPrefix(tiles, warpSum, tileTotal);
    if (list <= index.nLists) {
      pointer<uint32_t>(work.pairStart)[list] = pairBase + pair;
      pointer<uint32_t>(work.tileStart)[list] = tileBase + tile;
    }
    if (list < index.nLists)
      count[list] = 0;
    pairBase += pairTotal, tileBase += tileTotal;
  }
  if (threadIdx.x == 0 && work.ticket)
    *pointer<uint32_t>(work.ticket) = 0;
}

/// Finds one pair's place in the order by list, and the tiles it opens. Tiles of the same rows are
/// neighbours, so that these are read from memory once.
__device__ __forceinline__ void placePair(const annudf_device_index &index,
                                          const annudf_workspace &work, uint32_t pair,
                                          uint32_t list, uint32_t rank, uint32_t start,
                                          uint32_t end, uint32_t firstTile) {
  const uint32_t place = start + rank;
  pointer<uint32_t>(work.pairs)[place] = pair;
  if (rank % work.tileQueries != 0)
    return;
  const uint32_t abreast = (end - start - 1) / work.tileQueries + 1;
  uint4 *tile = pointer<uint4>(work.tiles) + firstTile + rank / work.tileQueries;
  const uint32_t segments = segmentsOf(index, work, list);
  for (uint32_t s = 0; s < segments; ++s, tile += abreast)
    *tile = make_uint4(list, place, min(work.tileQueries, end - place), s * work.segmentGroups);
}

/// A thread for each pair, after annudf_tile_offsets.
extern "C" __global__ void annudf_tile_fill(annudf_device_index index, annudf_workspace work,
                                            uint32_t pairs) {
  letNextBegin();
  waitForLast();
  const uint32_t pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= pairs)
    return;
  const uint32_t list = pointer<const uint32_t>(work.probes)[pair];
  const uint32_t *start = pointer<const uint32_t>(work.pairStart) + list;
  placePair(index, work, pair, list, pointer<const uint32_t>(work.rank)[pair], start[0], start[1],
            pointer<const uint32_t>(work.tileStart)[list]);
}

/// annudf_tile_offsets and annudf_tile_fill in one, of up to ANNUDF_SORT_MOST_LISTS lists: every
/// block adds up the pairs and tiles of all lists for itself.
extern "C" __global__ void __launch_bounds__(ANNUDF_SORT_THREADS)
    annudf_tile_sort(annudf_device_index index, annudf_workspace work, uint32_t pairs) {
  constexpr uint32_t kMost = ANNUDF_SORT_MOST_LISTS;
  __shared__ uint32_t warpSum[32], pairStart[kMost + 1], tileStart[kMost + 1];
  __shared__ bool isLast;
  letNextBegin();
  waitForLast();
  const uint32_t pair = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t list = pair < pairs ? pointer<const uint32_t>(work.probes)[pair] : 0;
  const uint32_t rank = pair < pairs ? pointer<const uint32_t>(work.rank)[pair] : 0;
  uint32_t *count = pointer<uint32_t>(work.listPairs);
  uint32_t pairBase = 0, tileBase = 0;
  for (uint32_t start = 0; start < index.nLists; start += blockDim.x) {
    const uint32_t l = start + threadIdx.x;
    const uint32_t mine = l < index.nLists ? count[l] : 0;
    const uint32_t tiles =
        mine == 0 ? 0
                  : (mine + work.tileQueries - 1) / work.tileQueries * segmentsOf(index, work, l);
    uint32_t pairTotal, tileTotal;
    const uint32_t before = blockPrefix(mine, warpSum, pairTotal);
    const uint32_t tile = blockPrefix(tiles, warpSum, tileTotal);
    if (l < index.nLists)
      pairStart[l] = pairBase + before, tileStart[l] = tileBase + tile;
    pairBase += pairTotal, tileBase += tileTotal;
  }
  if (threadIdx.x == 0) {
    pairStart[index.nLists] = pairBase, tileStart[index.nLists] = tileBase;
    __threadfence();
    uint32_t *sorted = pointer<uint32_t>(work.sorted);
    isLast = atomicAdd(sorted, 1u) == gridDim.x - 1;
    if (isLast)
      *sorted = 0;
    if (blockIdx.x == 0)
      *pointer<uint32_t>(work.ticket) = 0;
  }
  __syncthreads();
  if (pair < pairs)
    placePair(index, work, pair, list, rank, pairStart[list], pairStart[list + 1], tileStart[list]);
  if (blockIdx.x == 0)
    for (uint32_t l = threadIdx.x; l <= index.nLists; l += blockDim.x) {
      pointer<uint32_t>(work.pairStart)[l] = pairStart[l];
      pointer<uint32_t>(work.tileStart)[l] = tileStart[l];
    }
  if (isLast) // Every block has read the counts.
    for (uint32_t l = threadIdx.x; l < index.nLists; l += blockDim.x)
      count[l] = 0;
}

/// A block for each query: its coordinates in the compute type, and zeros up to the stride.
extern "C" __global__ void annudf_query_words(annudf_device_index index, annudf_queries queries,
                                              annudf_workspace work, int compute) {
  letNextBegin();
  waitForLast();
  uint32_t *out = pointer<uint32_t>(work.coordinates) +
                  static_cast<uint64_t>(blockIdx.x) * work.coordinateStride;
  const uint8_t *row =
      pointer<const uint8_t>(queries.data) + static_cast<uint64_t>(blockIdx.x) * queries.rowBytes;
  if (compute == ANNUDF_QUERY_AS_IT_IS) { // Elements may have no alignment.
    for (uint32_t d = threadIdx.x; d < work.coordinateStride; d += blockDim.x) {
      uint32_t word = 0;
      for (uint32_t b = 0; b < 4; ++b)
        if (d * 4 + b < queries.rowBytes)
          word |= static_cast<uint32_t>(row[d * 4 + b]) << (8 * b);
      out[d] = word;
    }
    return;
  }
  for (uint32_t d = threadIdx.x; d < work.coordinateStride; d += blockDim.x)
    out[d] = d < index.dims ? annudf_kernels::coordinateAt<uint32_t>(
                                  static_cast<int32_t>(queries.element), compute, row, d)
                            : 0;
}
