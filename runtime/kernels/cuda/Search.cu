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

#include "../Coordinates.h"
#include "Finish.cuh"

namespace {

template <class T> __device__ __forceinline__ T *pointer(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

/// Coordinate `dim` of a query as float, as lists are ranked by it: what is missing counts as
/// fill[dim], unless fill is null. Queries of 16-bit and 32-bit elements are aligned to their
/// element (checked by the host).
__device__ __forceinline__ float coordinate(const annudf_device_index &index,
                                            const annudf_queries &queries, const float *fill,
                                            uint64_t query, uint32_t dim) {
  const float value = annudf_kernels::bitsAs<float>(annudf_kernels::coordinateAt<uint32_t>(
      static_cast<int32_t>(queries.element), ANNUDF_COMPUTE_F32, pointer<const void>(queries.data),
      query * index.dims + dim));
  return fill && isnan(value) ? __ldg(fill + dim) : value;
}

/// What ranks a list for a query, from its sum; a coarse metric that has no case does not compile.
/// Of the cosine distance only what differs between lists: neither the query's norm, which might
/// overflow, nor the 1, which would round cosines near 0. A zero center has no direction: cosine 0.
template <int kind> __device__ __forceinline__ float valueOf(float sum, float centerNorm);
template <> __device__ __forceinline__ float valueOf<ANNUDF_COARSE_L2>(float sum, float) {
  return sum;
}
template <>
__device__ __forceinline__ float valueOf<ANNUDF_COARSE_INNER_PRODUCT>(float sum, float) {
  return sum;
}
template <>
__device__ __forceinline__ float valueOf<ANNUDF_COARSE_COSINE>(float sum, float centerNorm) {
  return centerNorm > 0 ? 0 - sum / centerNorm : 0; // Not -sum: a zero has one sign.
}

__device__ __forceinline__ float coarseValue(int kind, float sum, float centerNorm) {
  switch (kind) {
#define ANNUDF_X(NAME, VALUE, SPELLING, ORDER, SINCE)                                              \
  case ANNUDF_COARSE_##NAME:                                                                       \
    return valueOf<ANNUDF_COARSE_##NAME>(sum, centerNorm);
    ANNUDF_COARSES(ANNUDF_X)
#undef ANNUDF_X
  }
  return __uint_as_float(0x7FC00000u); // Ranks last.
}

} // namespace

/// Turns words of Index.h's order into 16-byte chunks, in place: both orders keep
/// the 128 words of a chunk of a group together, so a warp transposes 4 x 32 words.
extern "C" __global__ void annudf_regroup(uint4 *rows, uint64_t blocks) {
  const uint32_t lane = threadIdx.x & 31;
  const uint64_t warps = static_cast<uint64_t>(gridDim.x) * blockDim.x / 32;
  for (uint64_t b = (static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; b < blocks;
       b += warps) {
    uint32_t *words = reinterpret_cast<uint32_t *>(rows + b * 32);
    const uint4 chunk =
        make_uint4(words[lane], words[32 + lane], words[64 + lane], words[96 + lane]);
    __syncwarp();
    rows[b * 32 + lane] = chunk;
    __syncwarp();
  }
}

namespace {

/// By one block: the nProbes best lists of a query, where their groups go in the workspace, and,
/// for tiles, the place of each pair among its list's pairs.
__device__ __forceinline__ void chooseProbes(SelectScratch &scratch,
                                             const annudf_device_index &index,
                                             const annudf_workspace &work, uint32_t query) {
  const uint64_t pairs = static_cast<uint64_t>(query) * work.nProbes;
  const uint32_t *keys =
      pointer<const uint32_t>(work.coarse) + static_cast<uint64_t>(query) * index.nLists;
  uint32_t *probes = pointer<uint32_t>(work.probes) + pairs;
  auto keyAt = [&](uint32_t i) { return __ldcg(keys + i); }; // Of other blocks of this kernel.
  const uint32_t *size = pointer<const uint32_t>(index.listSize);
  // Of a pair whose list is `list`: where in the tile it lands does not change its result.
  auto rank = [&](uint32_t probe, uint32_t list) {
    if (work.rank)
      pointer<uint32_t>(work.rank)[pairs + probe] =
          atomicAdd(pointer<uint32_t>(work.listPairs) + list, 1u);
  };
  if (selectFew(scratch, index.nLists, work.nProbes, keyAt,
                [&](uint32_t place, uint32_t list, uint32_t) {
                  probes[place] = list;
                  scratch.histogram[place] = (__ldg(size + list) + 31) / 32;
                  rank(place, list);
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
  uint32_t base = 0;
  for (uint32_t start = 0; start < work.nProbes; start += blockDim.x) {
    const uint32_t p = start + threadIdx.x;
    const uint32_t list = p < work.nProbes ? probes[p] : 0;
    const uint32_t groups = p < work.nProbes ? (size[list] + 31) / 32 : 0;
    uint32_t total;
    const uint32_t before = blockPrefix(groups, scratch.warpSum, total);
    if (p < work.nProbes) {
      pointer<uint32_t>(work.probeGroup)[pairs + p] = base + before;
      rank(p, list);
    }
    base += total;
  }
  if (threadIdx.x == 0)
    pointer<uint32_t>(work.groupCount)[query] = base;
}

} // namespace

/// Coarse keys of few queries, and where work.arrived is, their lists: a warp for each center, the
/// query in shared memory. Direct differences, not the expanded form, so that far-off data keeps
/// its ranks.
extern "C" __global__ void __launch_bounds__(256)
    annudf_coarse_few(annudf_device_index index, annudf_queries queries, annudf_workspace work,
                      int kind, int order, const float *fill) {
  extern __shared__ float4 fewShared[]; // The query, which may take all there is; then the scratch.
  float *query = reinterpret_cast<float *>(fewShared);
  const uint32_t lane = threadIdx.x & 31, padded = index.centerStride, q = blockIdx.y;
  const float4 *centers = pointer<const float4>(index.centers);
  uint32_t *keys = pointer<uint32_t>(work.coarse) + static_cast<uint64_t>(q) * index.nLists;
  uint32_t center = blockIdx.x * 8 + threadIdx.x / 32;
  // The first center comes with the query.
  const float4 *c = centers + static_cast<uint64_t>(min(center, index.nLists - 1)) * (padded / 4);
  float4 next = lane < padded / 4 ? __ldg(c + lane) : float4{};
  for (uint32_t d = threadIdx.x; d < padded; d += blockDim.x)
    query[d] = d < index.dims ? coordinate(index, queries, fill, q, d) : 0;
  __syncthreads();
  while (center < index.nLists) {
    float sum = 0;
    for (uint32_t d = lane; d < padded / 4; d += 32) {
      const float4 y = next, x = fewShared[d];
      if (d + 32 < padded / 4)
        next = __ldg(c + d + 32);
      if (kind == ANNUDF_COARSE_L2) {
        const float a = x.x - y.x, b = x.y - y.y, e = x.z - y.z, f = x.w - y.w;
        sum += a * a + b * b + e * e + f * f;
      } else {
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
      }
    }
    const uint32_t done = center;
    center += gridDim.x * 8;
    if (center < index.nLists && lane < padded / 4) {
      c = centers + static_cast<uint64_t>(center) * (padded / 4);
      next = __ldg(c + lane);
    }
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, bit);
    if (lane == 0)
      keys[done] = annudfKeyOf(
          coarseValue(kind, sum, __ldg(pointer<const float>(index.norms) + done)), order);
  }
  letNextBegin();
  if (!work.arrived)
    return;
  // The last block of a query chooses its lists.
  uint32_t *arrived = pointer<uint32_t>(work.arrived) + q;
  bool isLast = false;
  __syncthreads();
  if (threadIdx.x == 0) { // For all threads, between two barriers.
    __threadfence();
    isLast = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
    if (isLast)
      *arrived = 0;
  }
  if (!__syncthreads_or(isLast))
    return;
  chooseProbes(*reinterpret_cast<SelectScratch *>(fewShared), index, work, q);
}

/// Coarse keys of many queries: 64 queries x 64 centers a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256)
    annudf_coarse_many(annudf_device_index index, annudf_queries queries, uint32_t *keys, int kind,
                       int order, const float *fill) {
  constexpr uint32_t kTile = 64, kDepth = 16, kPitch = kTile + 4;
  __shared__ __align__(16) float q[kDepth][kPitch], c[kDepth][kPitch];
  const uint32_t firstCenter = blockIdx.x * kTile, firstQuery = blockIdx.y * kTile;
  const uint32_t column = threadIdx.x % 16 * 4, line = threadIdx.x / 16 * 4;
  const float *centers = pointer<const float>(index.centers);
  float sum[4][4] = {};
  for (uint32_t depth = 0; depth < index.dims; depth += kDepth) {
    for (uint32_t i = threadIdx.x; i < kTile * kDepth; i += 256) {
      const uint32_t row = i / kDepth, d = i % kDepth;
      const bool inside = depth + d < index.dims;
      q[d][row] = inside && firstQuery + row < queries.count
                      ? coordinate(index, queries, fill, firstQuery + row, depth + d)
                      : 0;
      c[d][row] =
          inside && firstCenter + row < index.nLists
              ? __ldg(centers + static_cast<uint64_t>(firstCenter + row) * index.centerStride +
                      depth + d)
              : 0;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t d = 0; d < kDepth; ++d) {
      const float4 x4 = *reinterpret_cast<const float4 *>(&q[d][line]);
      const float4 y4 = *reinterpret_cast<const float4 *>(&c[d][column]);
      const float x[4] = {x4.x, x4.y, x4.z, x4.w}, y[4] = {y4.x, y4.y, y4.z, y4.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (kind == ANNUDF_COARSE_L2) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const float difference = x[i] - y[j];
            sum[i][j] = fmaf(difference, difference, sum[i][j]);
          }
        } else {
#pragma unroll
          for (int j = 0; j < 4; ++j)
            sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (firstQuery + line + i < queries.count && firstCenter + column + j < index.nLists)
        keys[static_cast<uint64_t>(firstQuery + line + i) * index.nLists + firstCenter + column +
             j] = annudfKeyOf(coarseValue(kind, sum[i][j],
                                          __ldg(pointer<const float>(index.norms) + firstCenter +
                                                column + j)),
                              order);
}

/// A block for each query: chooseProbes().
extern "C" __global__ void annudf_select_probes(annudf_device_index index, annudf_workspace work) {
  __shared__ SelectScratch scratch;
  letNextBegin();
  waitForLast();
  chooseProbes(scratch, index, work, blockIdx.x);
}

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

/// A thread for each pair: its place in the order by list, and the tiles it opens. Tiles of the
/// same rows are neighbours, so that these are read from memory once.
extern "C" __global__ void annudf_tile_fill(annudf_device_index index, annudf_workspace work,
                                            uint32_t pairs) {
  letNextBegin();
  waitForLast();
  const uint32_t pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= pairs)
    return;
  const uint32_t list = pointer<const uint32_t>(work.probes)[pair];
  const uint32_t rank = pointer<const uint32_t>(work.rank)[pair];
  const uint32_t *start = pointer<const uint32_t>(work.pairStart) + list;
  const uint32_t place = start[0] + rank;
  pointer<uint32_t>(work.pairs)[place] = pair;
  if (rank % work.tileQueries != 0)
    return;
  const uint32_t abreast = (start[1] - start[0] - 1) / work.tileQueries + 1;
  uint4 *tile = pointer<uint4>(work.tiles) + pointer<const uint32_t>(work.tileStart)[list] +
                rank / work.tileQueries;
  const uint32_t segments = segmentsOf(index, work, list);
  for (uint32_t s = 0; s < segments; ++s, tile += abreast)
    *tile =
        make_uint4(list, place, min(work.tileQueries, start[1] - place), s * work.segmentGroups);
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
