//===- PlaceProbes.cuh - A query's probes in the workspace -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists that a query probes, chosen by their keys or named by the caller, are written with the
// place of each one's groups, and for tiles with the place of each pair among its list's pairs.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_PLACEPROBES_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_PLACEPROBES_CUH

#include "Probes.cuh"
#include "Select.cuh"

namespace {

template <class T> __device__ __forceinline__ T *pointer(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

/// Gives a pair its place among those of its list, for tiles.
__device__ __forceinline__ void rankPair(const annudf_workspace &work, uint64_t pair,
                                         uint32_t list) {
  // Where in the tile a pair lands does not change its result.
  if (work.rank)
    pointer<uint32_t>(work.rank)[pair] = atomicAdd(pointer<uint32_t>(work.listPairs) + list, 1u);
}

/// By one warp: the nProbes best lists of a query, where their groups go in the workspace, and,
/// for tiles, the place of each pair among its list's pairs.
__device__ __forceinline__ void chooseProbesByWarp(ProbeScratch &scratch,
                                                   const annudf_device_index &index,
                                                   const annudf_workspace &work, uint32_t query) {
  const uint64_t pairs = static_cast<uint64_t>(query) * work.nProbes;
  const uint32_t *keys =
      pointer<const uint32_t>(work.coarse) + static_cast<uint64_t>(query) * index.nLists;
  uint32_t *probes = pointer<uint32_t>(work.probes) + pairs;
  const bool few = work.nProbes <= 32;
  chooseByWarp(scratch, keys, index.nLists, work.nProbes, few ? scratch.chosen : probes);
  __syncwarp();
  const uint32_t lane = threadIdx.x & 31;
  uint32_t base = 0;
  for (uint32_t start = 0; start < work.nProbes; start += 32) {
    const uint32_t p = start + lane;
    uint32_t list = 0, groups = 0;
    if (p < work.nProbes) {
      list = few ? scratch.chosen[p] : probes[p];
      rankPair(work, pairs + p, list);
      groups = (__ldg(pointer<const uint32_t>(index.listSize) + list) + 31) / 32;
    }
    uint32_t inclusive = groups;
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
      const uint32_t other = __shfl_up_sync(kEveryLane, inclusive, distance);
      if (lane >= distance)
        inclusive += other;
    }
    if (p < work.nProbes) {
      probes[p] = list;
      pointer<uint32_t>(work.probeGroup)[pairs + p] = base + inclusive - groups;
    }
    base += __shfl_sync(kEveryLane, inclusive, 31);
  }
  if (lane == 0)
    pointer<uint32_t>(work.groupCount)[query] = base;
}

/// By one block: the lists of a query, of which listAt(p) is the p-th, with all that
/// chooseProbesByWarp() leaves of them.
template <class ListAt>
__device__ __forceinline__ void placeProbes(uint32_t *warpSum, const annudf_device_index &index,
                                            const annudf_workspace &work, uint32_t query,
                                            ListAt listAt) {
  const uint64_t pairs = static_cast<uint64_t>(query) * work.nProbes;
  uint32_t base = 0;
  for (uint32_t start = 0; start < work.nProbes; start += blockDim.x) {
    const uint32_t p = start + threadIdx.x;
    const uint32_t list = p < work.nProbes ? listAt(p) : 0;
    const uint32_t groups =
        p < work.nProbes ? (__ldg(pointer<const uint32_t>(index.listSize) + list) + 31) / 32 : 0;
    uint32_t total;
    const uint32_t before = blockPrefix(groups, warpSum, total);
    if (p < work.nProbes) {
      pointer<uint32_t>(work.probes)[pairs + p] = list;
      pointer<uint32_t>(work.probeGroup)[pairs + p] = base + before;
      rankPair(work, pairs + p, list);
    }
    base += total;
  }
  if (threadIdx.x == 0)
    pointer<uint32_t>(work.groupCount)[query] = base;
}

/// chooseProbesByWarp() by one block, of any number of lists.
__device__ __forceinline__ void chooseProbes(SelectScratch &scratch,
                                             const annudf_device_index &index,
                                             const annudf_workspace &work, uint32_t query) {
  const uint64_t pairs = static_cast<uint64_t>(query) * work.nProbes;
  const uint32_t *keys =
      pointer<const uint32_t>(work.coarse) + static_cast<uint64_t>(query) * index.nLists;
  uint32_t *probes = pointer<uint32_t>(work.probes) + pairs;
  auto keyAt = [&](uint32_t i) { return keys[i]; };
  const uint32_t *size = pointer<const uint32_t>(index.listSize);
  if (selectFew(scratch, index.nLists, work.nProbes, keyAt,
                [&](uint32_t place, uint32_t list, uint32_t) {
                  probes[place] = list;
                  scratch.histogram[place] = (__ldg(size + list) + 31) / 32;
                  rankPair(work, pairs + place, list);
                })) {
    const uint32_t p = threadIdx.x; // Fewer than a block has threads.
    uint32_t total;
    const uint32_t groups = p < work.nProbes ? scratch.histogram[p] : 0;
    const uint32_t before = blockPrefix(groups, scratch.warpSum, total);
    if (p < work.nProbes)
      pointer<uint32_t>(work.probeGroup)[pairs + p] = before;
    if (p == 0)
      pointer<uint32_t>(work.groupCount)[query] = total;
    return;
  }
  __syncthreads();
  selectSmallest(scratch, index.nLists, work.nProbes, keyAt,
                 [&](uint32_t place, uint32_t list, uint32_t) { probes[place] = list; });
  placeProbes(scratch.warpSum, index, work, query, [&](uint32_t p) { return probes[p]; });
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SEARCH_PLACEPROBES_CUH
