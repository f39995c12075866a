//===- Build.cu - Lists and their centers, made on the device ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a build of an index runs where its rows are on the device: k-means, the choice
// of a list for each row, and the rows put into their lists. Ordinary device code, as
// Search.cu. Nothing depends on the order in which blocks run: sums are made in the
// order of the rows, and no float is added atomically.
//
//===----------------------------------------------------------------------===//

#include "../Coordinates.h"
#include "BuildArgs.h"

namespace {

constexpr uint32_t kTile = ANNUDF_BUILD_TILE, kDepth = ANNUDF_BUILD_DEPTH;

__device__ __forceinline__ uint64_t threadOfGrid() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ uint64_t threadsOfGrid() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/// The last i with starts[i] <= value, of `count` + 1 that do not descend.
__device__ uint32_t segmentOf(const uint32_t *starts, uint32_t count, uint32_t value) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (starts[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

} // namespace

/// The place of the first coordinate that is not finite.
/// \param first  as large as may be before.
extern "C" __global__ void annudf_build_finite(const void *base, uint64_t coordinates, int element,
                                               unsigned long long *first) {
  for (uint64_t i = threadOfGrid(); i < coordinates; i += threadsOfGrid())
    if (!isfinite(annudf_kernels::bitsAs<float>(
            annudf_kernels::coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, base, i))))
      atomicMin(first, static_cast<unsigned long long>(i));
}

/// Rows as floats less `origin`, each padded with zeros to `stride`.
/// \param chosen  which rows; null: from `first` on.
extern "C" __global__ void annudf_build_convert(const void *base, const uint32_t *chosen,
                                                uint64_t first, uint64_t count, uint32_t dims,
                                                uint32_t stride, int element, const float *origin,
                                                float *out) {
  const uint32_t quads = stride / 4;
  for (uint64_t i = threadOfGrid(); i < count * quads; i += threadsOfGrid()) {
    const uint64_t row = i / quads, from = chosen ? chosen[row] : first + row;
    const uint32_t begin = static_cast<uint32_t>(i % quads) * 4;
    float values[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t d = begin + j;
      values[j] = d < dims ? annudf_kernels::bitsAs<float>(annudf_kernels::coordinateAt<uint32_t>(
                                 element, ANNUDF_COMPUTE_F32, base, from * dims + d)) -
                                 (origin ? origin[d] : 0.0f)
                           : 0.0f;
    }
    reinterpret_cast<float4 *>(out)[i] = make_float4(values[0], values[1], values[2], values[3]);
  }
}

/// Scales rows to length 1, a warp each; a row of zeros stays.
extern "C" __global__ void annudf_build_normalise(float *rows, uint64_t count, uint32_t stride) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint64_t r = threadOfGrid() / 32; r < count; r += threadsOfGrid() / 32) {
    float *row = rows + r * stride;
    double norm = 0;
    for (uint32_t d = lane; d < stride; d += 32)
      norm += static_cast<double>(row[d]) * row[d];
    for (int step = 16; step > 0; step /= 2)
      norm += __shfl_xor_sync(0xFFFFFFFFu, norm, step);
    if (norm == 0)
      continue;
    const double scale = 1 / sqrt(norm);
    for (uint32_t d = lane; d < stride; d += 32)
      row[d] = static_cast<float>(row[d] * scale);
  }
}

/// What a list's key begins with, a warp each: for L2 its center's square. Infinity of lists that
/// are only there to fill a tile.
extern "C" __global__ void annudf_build_biases(const float *centers, uint32_t lists,
                                               uint32_t padded, uint32_t stride, int squares,
                                               float *biases) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint64_t c = threadOfGrid() / 32; c < padded; c += threadsOfGrid() / 32) {
    double norm = 0;
    if (squares && c < lists)
      for (uint32_t d = lane; d < stride; d += 32) {
        const float value = centers[c * stride + d];
        norm += static_cast<double>(value) * value;
      }
    for (int step = 16; step > 0; step /= 2)
      norm += __shfl_xor_sync(0xFFFFFFFFu, norm, step);
    if (lane == 0)
      biases[c] = c < lists ? static_cast<float>(norm) : __uint_as_float(0x7F800000u);
  }
}

namespace {

/// A stage of both operands, dimensions outermost, so that a thread reads four rows at once; padded
/// so that a warp's writes meet all banks.
struct Stage {
  float rows[kDepth][kTile + 4], centers[kDepth][kTile + 4];
};

/// What a thread brings to a stage: of one row and one center 4 dimensions, and 4 that are 8 later.
struct Part {
  float4 row[2], center[2];
  __device__ void load(const float *rowAt, const float *centerAt) {
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      row[p] = __ldg(reinterpret_cast<const float4 *>(rowAt + 8 * p));
      center[p] = __ldg(reinterpret_cast<const float4 *>(centerAt + 8 * p));
    }
  }
  __device__ void store(Stage &stage, uint32_t at, uint32_t dim) const {
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const float a[4] = {row[p].x, row[p].y, row[p].z, row[p].w};
      const float b[4] = {center[p].x, center[p].y, center[p].z, center[p].w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        stage.rows[dim + 8 * p + i][at] = a[i], stage.centers[dim + 8 * p + i][at] = b[i];
    }
  }
};

__device__ __forceinline__ void multiply(const Stage &stage, uint32_t x, uint32_t y,
                                         float (&sums)[8][8]) {
#pragma unroll
  for (uint32_t d = 0; d < kDepth; ++d) {
    float a[8], b[8];
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      const float4 r = *reinterpret_cast<const float4 *>(&stage.rows[d][half * 64 + y * 4]);
      const float4 c = *reinterpret_cast<const float4 *>(&stage.centers[d][half * 64 + x * 4]);
      a[half * 4] = r.x, a[half * 4 + 1] = r.y, a[half * 4 + 2] = r.z, a[half * 4 + 3] = r.w;
      b[half * 4] = c.x, b[half * 4 + 1] = c.y, b[half * 4 + 2] = c.z, b[half * 4 + 3] = c.w;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
  }
}

} // namespace

/// The best list of each row: of the smallest key bias + scale * <row, center>, the first of
/// equals, 0 where no key is below infinity. A block has kTile rows and goes through all lists,
/// kTile at once; a thread has 8 x 8 pairs. A sum runs over the dimensions in their order.
extern "C" __global__ void __launch_bounds__(256, 2)
    annudf_build_assign(const float *rows, uint64_t count, const float *centers,
                        const float *biases, uint32_t padded, uint32_t stride, float scale,
                        uint32_t *lists) {
  __shared__ Stage stages[2];
  __shared__ float bestKey[kTile];
  __shared__ uint32_t bestList[kTile];
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * kTile;
  const uint32_t x = threadIdx.x & 15, y = threadIdx.x / 16;
  const uint32_t at = threadIdx.x / 2, dim = (threadIdx.x & 1) * 4;
  const uint64_t last = count - 1 - first;
  const float *row = rows + (first + (at < last ? at : last)) * stride + dim;
  const float *center = centers + static_cast<uint64_t>(at) * stride + dim;
  if (threadIdx.x < kTile)
    bestKey[threadIdx.x] = __uint_as_float(0x7F800000u), bestList[threadIdx.x] = 0;

  const uint32_t depths = stride / kDepth, steps = padded / kTile * depths;
  float sums[8][8] = {};
  Part part;
  part.load(row, center);
  part.store(stages[0], at, dim);
  __syncthreads();
  uint32_t depth = 0, tile = 0;
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t nextDepth = depth + 1 == depths ? 0 : depth + 1;
    const uint32_t nextTile = tile + (nextDepth == 0);
    const bool more = step + 1 < steps;
    if (more)
      part.load(row + nextDepth * kDepth,
                center + static_cast<uint64_t>(nextTile) * kTile * stride + nextDepth * kDepth);
    multiply(stages[step & 1], x, y, sums);
    if (nextDepth == 0) {
      float bias[8];
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j)
        bias[j] = __ldg(biases + tile * kTile + j / 4 * 64 + x * 4 + j % 4);
#pragma unroll
      for (uint32_t i = 0; i < 8; ++i) {
        float key = __uint_as_float(0x7F800000u);
        uint32_t list = 0xFFFFFFFFu;
#pragma unroll
        for (uint32_t j = 0; j < 8; ++j) {
          const float one = fmaf(scale, sums[i][j], bias[j]);
          if (one < key)
            key = one, list = tile * kTile + j / 4 * 64 + x * 4 + j % 4;
          sums[i][j] = 0;
        }
#pragma unroll
        for (int lanes = 8; lanes > 0; lanes /= 2) {
          const float otherKey = __shfl_xor_sync(0xFFFFFFFFu, key, lanes);
          const uint32_t otherList = __shfl_xor_sync(0xFFFFFFFFu, list, lanes);
          if (otherKey < key || (otherKey == key && otherList < list))
            key = otherKey, list = otherList;
        }
        // One thread has each place: no other reads what it writes.
        const uint32_t place = i / 4 * 64 + y * 4 + i % 4;
        if (x == 0 && key < bestKey[place])
          bestKey[place] = key, bestList[place] = list;
      }
    }
    if (more)
      part.store(stages[(step + 1) & 1], at, dim);
    __syncthreads();
    depth = nextDepth, tile = nextTile;
  }
  if (threadIdx.x < kTile && threadIdx.x <= last)
    lists[first + threadIdx.x] = bestList[threadIdx.x];
}

//===----------------------------------------------------------------------===//
// Rows by list: a stable sort, 8 bits of the list's number a pass
//===----------------------------------------------------------------------===//

/// How often each digit is in a block's items: counts[digit * blocks + block].
extern "C" __global__ void __launch_bounds__(256)
    annudf_build_count(const uint32_t *keys, uint32_t count, uint32_t shift, uint32_t *counts) {
  __shared__ uint32_t seen[256];
  seen[threadIdx.x] = 0;
  __syncthreads();
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * ANNUDF_BUILD_SORT_ITEMS;
  for (uint32_t i = threadIdx.x; i < ANNUDF_BUILD_SORT_ITEMS; i += 256)
    if (first + i < count)
      atomicAdd(&seen[keys[first + i] >> shift & 255], 1u);
  __syncthreads();
  counts[static_cast<uint64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = seen[threadIdx.x];
}

/// Sums of what is before each, in place; one block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024)
    annudf_build_prefix(uint32_t *counts, uint64_t count) {
  __shared__ uint32_t ofWarp[32];
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  uint32_t before = 0;
  for (uint64_t first = 0; first < count; first += 4096) {
    const uint64_t at = first + threadIdx.x * 4;
    uint32_t own[4], sum = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      own[i] = sum;
      sum += at + i < count ? counts[at + i] : 0;
    }
    uint32_t scanned = sum;
    for (int step = 1; step < 32; step *= 2) {
      const uint32_t left = __shfl_up_sync(0xFFFFFFFFu, scanned, step);
      scanned += lane >= step ? left : 0;
    }
    if (lane == 31)
      ofWarp[warp] = scanned;
    __syncthreads();
    if (warp == 0) {
      uint32_t all = ofWarp[lane];
      for (int step = 1; step < 32; step *= 2) {
        const uint32_t left = __shfl_up_sync(0xFFFFFFFFu, all, step);
        all += lane >= step ? left : 0;
      }
      ofWarp[lane] = all;
    }
    __syncthreads();
    const uint32_t base = before + (warp ? ofWarp[warp - 1] : 0) + scanned - sum;
    for (uint32_t i = 0; i < 4; ++i)
      if (at + i < count)
        counts[at + i] = base + own[i];
    before += ofWarp[31];
    __syncthreads();
  }
}

/// Moves keys, and the rows that have them, to their places.
/// \param rows     null: 0, 1, ...
/// \param offsets  annudf_build_count's, after annudf_build_prefix.
extern "C" __global__ void __launch_bounds__(256)
    annudf_build_scatter(const uint32_t *keys, const uint32_t *rows, uint32_t count, uint32_t shift,
                         const uint32_t *offsets, uint32_t *outKeys, uint32_t *outRows) {
  constexpr uint32_t kWarps = 8, kRounds = ANNUDF_BUILD_SORT_ITEMS / 256;
  __shared__ uint32_t places[kWarps][256];
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  for (uint32_t w = 0; w < kWarps; ++w)
    places[w][threadIdx.x] = 0;
  __syncthreads();
  // A warp has neighbours, in their order: equal digits before an item are those of earlier warps,
  // earlier rounds and lower lanes.
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * ANNUDF_BUILD_SORT_ITEMS +
                         static_cast<uint64_t>(warp) * (kRounds * 32) + lane;
  uint32_t ranks[kRounds], own[kRounds];
#pragma unroll
  for (uint32_t i = 0; i < kRounds; ++i) {
    const bool is = first + i * 32 < count;
    own[i] = is ? keys[first + i * 32] : 0;
    const uint32_t digit = own[i] >> shift & 255;
    const uint32_t equal = __match_any_sync(0xFFFFFFFFu, is ? digit : 256u);
    ranks[i] = __popc(equal & ((1u << lane) - 1));
    uint32_t before = 0;
    if (is)
      before = places[warp][digit];
    __syncwarp();
    if (is && ranks[i] == 0)
      places[warp][digit] = before + __popc(equal);
    __syncwarp();
    ranks[i] += before;
  }
  __syncthreads();
  uint32_t place = offsets[static_cast<uint64_t>(threadIdx.x) * gridDim.x + blockIdx.x];
  for (uint32_t w = 0; w < kWarps; ++w) {
    const uint32_t has = places[w][threadIdx.x];
    places[w][threadIdx.x] = place;
    place += has;
  }
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < kRounds; ++i)
    if (first + i * 32 < count) {
      const uint32_t to = places[warp][own[i] >> shift & 255] + ranks[i];
      outKeys[to] = own[i];
      outRows[to] = rows ? rows[first + i * 32] : static_cast<uint32_t>(first + i * 32);
    }
}

/// Where each list begins among the sorted rows, and where the last one ends.
extern "C" __global__ void annudf_build_bounds(const uint32_t *keys, uint32_t count, uint32_t lists,
                                               uint32_t *starts) {
  for (uint64_t i = threadOfGrid(); i <= count; i += threadsOfGrid()) {
    const uint32_t end = i < count ? keys[i] : lists;
    for (uint32_t l = i ? keys[i - 1] + 1 : 0; l <= end; ++l)
      starts[l] = static_cast<uint32_t>(i);
  }
}

//===----------------------------------------------------------------------===//
// Means of lists
//===----------------------------------------------------------------------===//

/// Sums of up to ANNUDF_BUILD_SUM_ROWS rows of one list, a block each, in the rows' order.
/// \param order   rows by list; null: as they are.
/// \param chunks  lists + 1: the first such piece of each list.
extern "C" __global__ void __launch_bounds__(128)
    annudf_build_sums(const float *rows, const uint32_t *order, const uint32_t *starts,
                      const uint32_t *chunks, uint32_t lists, uint32_t stride, double *sums) {
  __shared__ uint32_t members[ANNUDF_BUILD_SUM_ROWS];
  __shared__ uint32_t list;
  if (threadIdx.x == 0)
    list = segmentOf(chunks, lists, blockIdx.x);
  __syncthreads();
  const uint32_t begin = starts[list] + (blockIdx.x - chunks[list]) * ANNUDF_BUILD_SUM_ROWS;
  const uint32_t left = starts[list + 1] - begin;
  const uint32_t count = left < ANNUDF_BUILD_SUM_ROWS ? left : ANNUDF_BUILD_SUM_ROWS;
  for (uint32_t i = threadIdx.x; i < count; i += 128)
    members[i] = order ? order[begin + i] : begin + i;
  __syncthreads();
  for (uint32_t d = threadIdx.x; d < stride; d += 128) {
    double sum = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < count; ++i)
      sum += __ldg(rows + static_cast<uint64_t>(members[i]) * stride + d);
    sums[static_cast<uint64_t>(blockIdx.x) * stride + d] = sum;
  }
}

/// The means, a block for each list; a list without rows keeps its center.
extern "C" __global__ void __launch_bounds__(128)
    annudf_build_means(const double *sums, const uint32_t *starts, const uint32_t *chunks,
                       uint32_t stride, float *centers) {
  const uint32_t list = blockIdx.x, size = starts[list + 1] - starts[list];
  if (size == 0)
    return;
  for (uint32_t d = threadIdx.x; d < stride; d += 128) {
    double sum = 0;
    for (uint32_t chunk = chunks[list]; chunk < chunks[list + 1]; ++chunk)
      sum += sums[static_cast<uint64_t>(chunk) * stride + d];
    centers[static_cast<uint64_t>(list) * stride + d] = static_cast<float>(sum / size);
  }
}

//===----------------------------------------------------------------------===//
// The lists
//===----------------------------------------------------------------------===//

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
    list = segmentOf(listGroup, lists, blockIdx.x);
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
    const uint32_t list = segmentOf(starts, lists, place), at = place - starts[list];
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
    list = segmentOf(listGroup, lists, blockIdx.x);
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

/// annudf_regroup the other way: words of Index.h's order, from 16-byte chunks, to another place.
extern "C" __global__ void annudf_build_ungroup(const uint4 *rows, uint64_t blocks, uint32_t *out) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint64_t b = threadOfGrid() / 32; b < blocks; b += threadsOfGrid() / 32) {
    const uint4 chunk = rows[b * 32 + lane];
    uint32_t *words = out + b * 128 + lane;
    words[0] = chunk.x, words[32] = chunk.y, words[64] = chunk.z, words[96] = chunk.w;
  }
}
