//===- TilePassing.cuh - Which rows of a tile each query may find -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Staged.cu. A lane has a row of each of four groups, and keys of it for some queries.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_TILEPASSING_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_TILEPASSING_CUH

#include "../common/Passes.cuh"

namespace {

/// Lane 4 q + g: the rows of group g of a tile that its query q may find; none from `groups` on.
/// \param places  of the queries in the workspace.  \param group  the tile's first.
/// \pre work.passing != 0
template <int kQueries>
__device__ __forceinline__ uint32_t passingOfTile(const annudf_workspace &work, uint32_t groups,
                                                  const uint64_t *places, uint32_t group,
                                                  int lane) {
  static_assert(kQueries * 4 <= 32, "a lane each");
  group += static_cast<uint32_t>(lane % 4);
  return lane < kQueries * 4 && group < groups ? passingAt(work, places[lane / 4] + group) : 0;
}

/// Bit 4 q + g: whether query q may find the lane's row of group g, beside the filter.
template <int kQueries>
__device__ __forceinline__ uint32_t passingOfLane(const annudf_workspace &work, uint32_t groups,
                                                  const uint64_t *places, uint32_t group,
                                                  int lane) {
  if (work.passing == 0)
    return 0xFFFFFFFFu;
  uint32_t bits = passingOfTile<kQueries>(work, groups, places, group, lane);
  uint32_t low = 0x0000FFFFu; // Bits and lanes change places, by a bit of their numbers each time.
#pragma unroll
  for (int step = 16; step > 0; step /= 2, low ^= low << step) {
    const uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, bits, step);
    bits =
        lane & step ? (bits & ~low) | (other >> step & low) : (bits & low) | (other << step & ~low);
  }
  return bits;
}
__device__ __forceinline__ bool isFoundBy(uint32_t passing, int q, int g) {
  return passing >> (q * 4 + g) & 1;
}

/// Takes the keys of rows that their queries may not find.
template <int kQueries>
__device__ __forceinline__ void leaveOut(uint32_t passing, uint32_t (&key)[kQueries][4]) {
#pragma unroll
  for (int q = 0; q < kQueries; ++q)
#pragma unroll
    for (int g = 0; g < 4; ++g)
      if (!isFoundBy(passing, q, g))
        key[q][g] = ANNUDF_KEY_NONE;
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_TILEPASSING_CUH
