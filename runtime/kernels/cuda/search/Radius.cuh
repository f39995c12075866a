//===- Radius.cuh - The rows within a radius of what a scan left ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For scans that leave a key of every row; of others see Within.cuh. Apart from Search.cu so that
// RadiusKernelsTest can run it where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH

#include "../common/WithinRows.cuh"
#include "Finish.cuh"

namespace {

constexpr uint32_t kWithinGroups = ANNUDF_WITHIN_THREADS * ANNUDF_WITHIN_AHEAD;

/// Groups of a query from `first` on, a piece of kWithinGroups, whose best row is within.
/// \param hits  in shared memory. \param count  zero before.
__device__ __forceinline__ void findGroups(const uint32_t *minima, uint32_t groups, uint32_t first,
                                           uint32_t limit, uint32_t *hits, uint32_t &count) {
  uint32_t best[ANNUDF_WITHIN_AHEAD];
#pragma unroll
  for (uint32_t i = 0; i < ANNUDF_WITHIN_AHEAD; ++i) {
    const uint32_t g = first + i * ANNUDF_WITHIN_THREADS + threadIdx.x;
    best[i] = g < groups ? minima[g] : ANNUDF_KEY_NONE;
  }
#pragma unroll
  for (uint32_t i = 0; i < ANNUDF_WITHIN_AHEAD; ++i)
    if (best[i] <= limit)
      hits[atomicAdd(&count, 1u)] = first + i * ANNUDF_WITHIN_THREADS + threadIdx.x;
}

} // namespace

/// Block rows of ANNUDF_WITHIN_THREADS threads share the groups of a query.
extern "C" __global__ void __launch_bounds__(ANNUDF_WITHIN_THREADS)
    annudf_within_keys(const __grid_constant__ annudf_radius_args args) {
  __shared__ WithinScratch scratch;
  __shared__ uint32_t hits[kWithinGroups], count;
  waitForLast();
  const annudf_finish_args &finish = args.finish;
  const annudf_workspace &work = finish.work;
  const uint32_t query = args.to.first + blockIdx.x;
  const uint32_t groups = annudfPointer<const uint32_t>(work.groupCount)[query];
  const uint64_t start = static_cast<uint64_t>(query) * work.stride;
  const uint32_t *minima = annudfPointer<const uint32_t>(work.minima) + start;
  const uint32_t *keys = annudfPointer<const uint32_t>(work.keys) + start * 32;
  const Scanned scanned = {finish, static_cast<uint64_t>(query) * work.nProbes, keys};
  WithinRows rows(args.to, scratch, query, finish.order);
  const uint32_t limit = rows.limit(), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    count = 0;
  __syncthreads();
  for (uint32_t first = blockIdx.y * kWithinGroups; first < groups;
       first += gridDim.y * kWithinGroups) {
    findGroups(minima, groups, first, limit, hits, count);
    __syncthreads();
    const uint32_t found = count;
    for (uint32_t h = 0; h < found; h += ANNUDF_WITHIN_THREADS / 32) {
      rows.makeRoom();
      if (h + warp < found) {
        const uint32_t place = hits[h + warp] * 32 + lane;
        if (const uint32_t key = keys[place]; key <= limit)
          rows.add(key, scanned.idOf(place));
      }
    }
    __syncthreads();
    if (threadIdx.x == 0)
      count = 0;
    __syncthreads();
  }
  rows.end();
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH
