//===- RemoveLists.cuh - Lists without some of their rows -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of ScanArgs.h, closed up: rows keep their order, so a list is what Index::remove
// leaves of it. Of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_REMOVELISTS_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_REMOVELISTS_CUH

#include "BuildGrid.cuh"

/// A bit for each id of rows to remove.
/// \param gone     0 and above, in any order; what is above `largest` is no row's.
/// \param bits     zeros before, for ids up to `largest`.
extern "C" __global__ void annudf_remove_flag(const int64_t *gone, uint64_t count, int64_t largest,
                                              unsigned long long *bits) {
  for (uint64_t i = threadOfGrid(); i < count; i += threadsOfGrid())
    if (const int64_t id = gone[i]; id <= largest)
      atomicOr(bits + id / 64, 1ULL << (id % 64));
}

namespace {

/// \param sorted  `count` ids, where bits is null.
__device__ bool isAmong(int64_t id, const unsigned long long *bits, const int64_t *sorted,
                        uint64_t count) {
  if (bits)
    return (bits[id / 64] >> (id % 64) & 1) != 0;
  uint64_t low = 0, high = count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (sorted[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && sorted[low] == id;
}

/// The place of the bit before which `n` others are set.
__device__ uint32_t placeOfBit(uint32_t bits, uint32_t n) {
  uint32_t place = 0;
#pragma unroll
  for (uint32_t width = 16; width > 0; width /= 2)
    if (const uint32_t before = __popc(bits & ((1u << width) - 1)); n >= before)
      n -= before, bits >>= width, place += width;
  return place;
}

} // namespace

/// What stays of each group, a warp each: a bit a row, and how many.
/// \param bits, sorted, count  the ids that go, as isAmong takes them.
/// \param extent  the largest id that stays, and one; 0 before.
extern "C" __global__ void __launch_bounds__(256)
    annudf_remove_mark(const int64_t *ids, uint32_t groups, const unsigned long long *bits,
                       const int64_t *sorted, uint64_t count, uint32_t *stay, uint32_t *counts,
                       unsigned long long *extent) {
  const uint32_t lane = threadIdx.x & 31;
  unsigned long long most = 0;
  for (uint64_t g = threadOfGrid() / 32; g < groups; g += threadsOfGrid() / 32) {
    const int64_t id = ids[g * 32 + lane];
    const bool stays = id >= 0 && !isAmong(id, bits, sorted, count);
    const uint32_t mask = __ballot_sync(0xFFFFFFFFu, stays);
    if (lane == 0)
      stay[g] = mask, counts[g] = __popc(mask);
    const unsigned long long own = static_cast<unsigned long long>(id) + 1;
    if (stays && own > most)
      most = own;
  }
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xFFFFFFFFu, most, step);
    most = other > most ? other : most;
  }
  if (lane == 0 && most != 0)
    atomicMax(extent, most);
}

/// Marks the rows that pass a filter, a bit each.
/// \param counts  groups + 1, the last of which is 0 then.
extern "C" __global__ void __launch_bounds__(256)
    annudf_passing_mark(const int64_t *ids, uint32_t groups, const uint32_t *filter, uint32_t *stay,
                        uint32_t *counts) {
  const uint32_t lane = threadIdx.x & 31;
  if (threadOfGrid() == 0)
    counts[groups] = 0;
  for (uint64_t g = threadOfGrid() / 32; g < groups; g += threadsOfGrid() / 32) {
    const int64_t id = ids[g * 32 + lane];
    const bool stays = id >= 0 && (__ldg(filter + id / 32) >> (id % 32) & 1);
    const uint32_t mask = __ballot_sync(0xFFFFFFFFu, stays);
    if (lane == 0)
      stay[g] = mask, counts[g] = __popc(mask);
  }
}

/// \param before  groups + 1: rows that stay of the groups before each.
extern "C" __global__ void annudf_remove_sizes(const uint32_t *before, const uint32_t *listGroup,
                                               uint32_t lists, uint32_t *sizes) {
  for (uint64_t l = threadOfGrid(); l < lists; l += threadsOfGrid())
    sizes[l] = before[listGroup[l + 1]] - before[listGroup[l]];
}

/// The rows that stay, in their order; a block for each group of what they make.
/// \param stay, before  of the old groups.
extern "C" __global__ void __launch_bounds__(128)
    annudf_remove_move(const uint4 *oldRows, const int64_t *oldIds, const uint32_t *oldGroup,
                       const uint32_t *stay, const uint32_t *before, const uint32_t *listGroup,
                       uint32_t lists, uint32_t chunks, uint4 *rows, int64_t *ids) {
  __shared__ uint32_t list;
  if (threadIdx.x == 0)
    list = lastStartUpTo(listGroup, lists, blockIdx.x);
  __syncthreads();
  const uint32_t lane = threadIdx.x & 31;
  const uint32_t first = oldGroup[list], end = oldGroup[list + 1];
  const uint64_t place =
      before[first] + static_cast<uint64_t>(blockIdx.x - listGroup[list]) * 32 + lane;
  const bool is = place < before[end];
  uint64_t group = 0;
  uint32_t row = 0;
  if (is) {
    // A group of which nothing stays begins where the next does, and is passed over.
    group = first + lastStartUpTo(before + first, end - first, static_cast<uint32_t>(place));
    row = placeOfBit(stay[group], static_cast<uint32_t>(place) - before[group]);
  }
  if (threadIdx.x < 32)
    ids[static_cast<uint64_t>(blockIdx.x) * 32 + lane] = is ? oldIds[group * 32 + row] : -1;
  const uint4 *from = oldRows + group * chunks * 32 + row;
  uint4 *to = rows + static_cast<uint64_t>(blockIdx.x) * chunks * 32 + lane;
  for (uint32_t c = threadIdx.x / 32; c < chunks; c += blockDim.x / 32) {
    const uint64_t at = static_cast<uint64_t>(c) * 32;
    to[at] = is ? __ldg(from + at) : make_uint4(0, 0, 0, 0);
  }
}

#endif // ANNUDF_KERNELS_CUDA_BUILD_REMOVELISTS_CUH
