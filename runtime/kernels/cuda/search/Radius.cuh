//===- Radius.cuh - The rows within a radius of what a scan left ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from Search.cu so that RadiusKernelsTest can run it where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH
#define ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH

#include "../common/RadiusArgs.h"
#include "Finish.cuh"

namespace {

/// Calls visit(place, key, within) for each group of a query with a row within the radius: this
/// lane's place in the workspace and its key, and the lanes whose rows are within. The warps of a
/// block row share the groups; a group's best key says whether its rows are looked at.
template <class Visit>
__device__ __forceinline__ void visitWithin(const annudf_radius_args &args, uint32_t query,
                                            Visit visit) {
  const annudf_workspace &work = args.finish.work;
  const uint32_t groups = annudfPointer<const uint32_t>(work.groupCount)[query];
  const uint64_t first = static_cast<uint64_t>(query) * work.stride;
  const uint32_t *minima = annudfPointer<const uint32_t>(work.minima) + first;
  const uint32_t *keys = annudfPointer<const uint32_t>(work.keys) + first * 32;
  // A number's key is below ANNUDF_KEY_NONE.
  const uint32_t limit = annudfKeyOf(args.radius, static_cast<int>(args.finish.order));
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t warp = (blockIdx.y * blockDim.x + threadIdx.x) / 32;
  const uint32_t together = gridDim.y * blockDim.x; // A group a thread.
  for (uint32_t begin = warp * 32; begin < groups; begin += together) {
    const uint32_t best = begin + lane < groups ? minima[begin + lane] : ANNUDF_KEY_NONE;
    for (uint32_t left = __ballot_sync(0xFFFFFFFFu, best <= limit); left != 0; left &= left - 1) {
      const uint32_t place = (begin + __ffs(static_cast<int>(left)) - 1) * 32 + lane;
      const uint32_t key = keys[place];
      visit(place, key, __ballot_sync(0xFFFFFFFFu, key <= limit));
    }
  }
}

} // namespace

/// A block row for each query: adds the number of its rows within the radius to its count.
extern "C" __global__ void annudf_count_within(const __grid_constant__ annudf_radius_args args) {
  waitForLast();
  const uint32_t query = args.first + blockIdx.x;
  uint32_t count = 0; // The warp's, in each of its lanes.
  visitWithin(args, query, [&](uint32_t, uint32_t, uint32_t within) { count += __popc(within); });
  if (threadIdx.x % 32 == 0 && count != 0)
    atomicAdd(annudfPointer<uint32_t>(args.counts) + blockIdx.x, count);
}

/// The same, and writes id and distance of each, in any order within a query.
extern "C" __global__ void annudf_fill_within(const __grid_constant__ annudf_radius_args args) {
  waitForLast();
  const annudf_finish_args &finish = args.finish;
  const uint32_t query = args.first + blockIdx.x, lane = threadIdx.x % 32;
  const Scanned scanned = {finish, static_cast<uint64_t>(query) * finish.work.nProbes, nullptr};
  const uint64_t start = annudfPointer<const uint64_t>(args.starts)[blockIdx.x];
  visitWithin(args, query, [&](uint32_t place, uint32_t key, uint32_t within) {
    uint32_t before = 0;
    if (lane == 0)
      before = atomicAdd(annudfPointer<uint32_t>(args.counts) + blockIdx.x, __popc(within));
    before = __shfl_sync(0xFFFFFFFFu, before, 0);
    if ((within >> lane & 1) == 0)
      return;
    const uint64_t out = start + before + __popc(within & ((1u << lane) - 1));
    annudfPointer<int64_t>(finish.outIds)[out] = scanned.idOf(place);
    annudfPointer<float>(finish.outDistances)[out] =
        annudfDistanceOf(key, static_cast<int>(finish.order));
  });
}

#endif // ANNUDF_KERNELS_CUDA_SEARCH_RADIUS_CUH
