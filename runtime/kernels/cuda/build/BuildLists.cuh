//===- BuildLists.cuh - Rows in the groups of their lists -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of ScanArgs.h, made of rows and added to. Of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_BUILDLISTS_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_BUILDLISTS_CUH

#include "BuildGrid.cuh"

namespace {

/// Bytes [begin, begin + 16) of a row, of which some may be behind its end: these are 0.
template <int alignment>
__device__ __forceinline__ uint4 chunkOf(const unsigned char *row, uint32_t begin, uint32_t bytes) {
  if constexpr (alignment == 16)
    return __ldg(reinterpret_cast<const uint4 *>(row + begin));
  uint32_t words[4] = {};
#pragma unroll
  for (uint32_t w = 0; w < 4; ++w)
    if constexpr (alignment == 4) {
      if (begin + w * 4 < bytes)
        words[w] = __ldg(reinterpret_cast<const uint32_t *>(row + begin) + w);
    } else {
#pragma unroll
      for (uint32_t b = 0; b < 4; ++b)
        if (begin + w * 4 + b < bytes)
          words[w] |= static_cast<uint32_t>(__ldg(row + begin + w * 4 + b)) << (8 * b);
    }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

template <int alignment>
__device__ void packGroup(const unsigned char *row, uint32_t bytes, uint32_t chunks, uint4 *group) {
  for (uint32_t c = threadIdx.x / 32; c < chunks; c += blockDim.x / 32)
    group[static_cast<uint64_t>(c) * 32 + (threadIdx.x & 31)] =
        row ? chunkOf<alignment>(row, c * 16, bytes) : make_uint4(0, 0, 0, 0);
}

} // namespace

/// Rows in their lists' groups, as ScanArgs.h says; a block for each group.
/// \param order      rows by list; null where there is one list.
/// \param alignment  of every row: 16 (then its bytes are too), 4 or 1.
extern "C" __global__ void __launch_bounds__(128)
    annudf_build_pack(const unsigned char *base, uint32_t bytes, int alignment,
                      const uint32_t *order, const uint32_t *starts, const uint32_t *listGroup,
                      uint32_t lists, uint32_t chunks, uint4 *rows, int64_t *ids) {
  __shared__ uint32_t list;
  if (threadIdx.x == 0)
    list = lastStartUpTo(listGroup, lists, blockIdx.x);
  __syncthreads();
  const uint32_t lane = threadIdx.x & 31;
  const uint64_t at =
      starts[list] + static_cast<uint64_t>(blockIdx.x - listGroup[list]) * 32 + lane;
  const bool is = at < starts[list + 1];
  const uint64_t number = is ? (order ? order[at] : at) : 0;
  const unsigned char *row = is ? base + number * bytes : nullptr;
  uint4 *group = rows + static_cast<uint64_t>(blockIdx.x) * chunks * 32;
  if (threadIdx.x < 32)
    ids[static_cast<uint64_t>(blockIdx.x) * 32 + lane] = is ? static_cast<int64_t>(number) : -1;
  if (alignment == 16)
    packGroup<16>(row, bytes, chunks, group);
  else if (alignment == 4)
    packGroup<4>(row, bytes, chunks, group);
  else
    packGroup<1>(row, bytes, chunks, group);
}

/// The place of each row among the sorted ones.
extern "C" __global__ void annudf_build_places(const uint32_t *order, uint32_t count,
                                               uint32_t *places) {
  for (uint64_t i = threadOfGrid(); i < count; i += threadsOfGrid())
    places[order[i]] = static_cast<uint32_t>(i);
}

namespace {

template <int alignment>
__device__ void placeRow(const unsigned char *row, uint32_t bytes, uint32_t chunks, uint4 *to) {
  for (uint32_t c = threadIdx.x & 31; c < chunks; c += 32)
    to[static_cast<uint64_t>(c) * 32] = chunkOf<alignment>(row, c * 16, bytes);
}

} // namespace

/// Some of all rows, those from `first` on, at their places in the lists' groups, whose padding is
/// there; a warp each.
/// \param places     of all rows, by annudf_build_places; null where there is one list.
/// \param alignment  as of annudf_build_pack.
extern "C" __global__ void __launch_bounds__(256)
    annudf_build_place(const unsigned char *piece, uint64_t first, uint32_t count, uint32_t bytes,
                       int alignment, const uint32_t *places, const uint32_t *starts,
                       const uint32_t *listGroup, uint32_t lists, uint32_t chunks, uint4 *rows,
                       int64_t *ids) {
  for (uint64_t r = threadOfGrid() / 32; r < count; r += threadsOfGrid() / 32) {
    const uint32_t number = static_cast<uint32_t>(first + r);
    const uint32_t place = places ? places[number] : number;
    const uint32_t list = lastStartUpTo(starts, lists, place), at = place - starts[list];
    const uint64_t group = listGroup[list] + at / 32;
    const unsigned char *row = piece + r * bytes;
    uint4 *to = rows + group * chunks * 32 + at % 32;
    if ((threadIdx.x & 31) == 0)
      ids[group * 32 + at % 32] = number;
    if (alignment == 16)
      placeRow<16>(row, bytes, chunks, to);
    else if (alignment == 4)
      placeRow<4>(row, bytes, chunks, to);
    else
      placeRow<1>(row, bytes, chunks, to);
  }
}

namespace {

template <int alignment>
__device__ void appendGroup(const unsigned char *row, const uint4 *old, uint32_t bytes,
                            uint32_t chunks, uint4 *group) {
  for (uint32_t c = threadIdx.x / 32; c < chunks; c += blockDim.x / 32) {
    const uint64_t at = static_cast<uint64_t>(c) * 32;
    group[at + (threadIdx.x & 31)] = old   ? __ldg(old + at)
                                     : row ? chunkOf<alignment>(row, c * 16, bytes)
                                           : make_uint4(0, 0, 0, 0);
  }
}

} // namespace

/// Lists as they are, then new rows; a block for each group of what both make.
/// \param base, bytes, alignment, order, starts  of the new rows, as of annudf_build_pack.
/// \param newIds   of the new rows; null: from firstId on.
extern "C" __global__ void __launch_bounds__(128)
    annudf_build_append(const unsigned char *base, uint32_t bytes, int alignment,
                        const uint32_t *order, const uint32_t *starts, const int64_t *newIds,
                        int64_t firstId, const uint4 *oldRows, const int64_t *oldIds,
                        const uint32_t *oldGroup, const uint32_t *oldSize,
                        const uint32_t *listGroup, uint32_t lists, uint32_t chunks, uint4 *rows,
                        int64_t *ids) {
  __shared__ uint32_t list;
  if (threadIdx.x == 0)
    list = lastStartUpTo(listGroup, lists, blockIdx.x);
  __syncthreads();
  const uint32_t lane = threadIdx.x & 31, own = blockIdx.x - listGroup[list];
  const uint64_t at = static_cast<uint64_t>(own) * 32 + lane, before = oldSize[list];
  const uint64_t place = starts[list] + (at - before);
  const bool isOld = at < before, isNew = !isOld && place < starts[list + 1];
  const uint64_t group = isOld ? static_cast<uint64_t>(oldGroup[list]) + own : 0;
  const uint64_t number = isNew ? (order ? order[place] : place) : 0;
  if (threadIdx.x < 32)
    ids[static_cast<uint64_t>(blockIdx.x) * 32 + lane] =
        isOld   ? oldIds[group * 32 + lane]
        : isNew ? (newIds ? newIds[number] : firstId + static_cast<int64_t>(number))
                : -1;
  const uint4 *old = isOld ? oldRows + group * chunks * 32 + lane : nullptr;
  const unsigned char *row = isNew ? base + number * bytes : nullptr;
  uint4 *to = rows + static_cast<uint64_t>(blockIdx.x) * chunks * 32;
  if (alignment == 16)
    appendGroup<16>(row, old, bytes, chunks, to);
  else if (alignment == 4)
    appendGroup<4>(row, old, bytes, chunks, to);
  else
    appendGroup<1>(row, old, bytes, chunks, to);
}

/// annudf_regroup the other way: words of RowStore.h's order, from 16-byte chunks, elsewhere.
extern "C" __global__ void annudf_build_ungroup(const uint4 *rows, uint64_t blocks, uint32_t *out) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint64_t b = threadOfGrid() / 32; b < blocks; b += threadsOfGrid() / 32) {
    const uint4 chunk = rows[b * 32 + lane];
    uint32_t *words = out + b * 128 + lane;
    words[0] = chunk.x, words[32] = chunk.y, words[64] = chunk.z, words[96] = chunk.w;
  }
}

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDLISTS_CUH
