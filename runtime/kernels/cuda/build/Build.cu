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

#include "../../Coordinates.h"
#include "BuildLists.cuh"
#include "BuildMeans.cuh"
#include "BuildSort.cuh"
#include "CandidateLists.cuh"
#include "RemoveLists.cuh"

namespace {

constexpr uint32_t kTile = ANNUDF_BUILD_TILE, kDepth = ANNUDF_BUILD_DEPTH;

} // namespace

/// The place of the first coordinate that is not finite.
/// \param missing  whether a NaN is a missing value: only an infinite one is found then.
/// \param first    as large as may be before.
extern "C" __global__ void annudf_build_finite(const void *base, uint64_t coordinates, int element,
                                               int missing, unsigned long long *first) {
  for (uint64_t i = threadOfGrid(); i < coordinates; i += threadsOfGrid()) {
    const auto value = annudf_kernels::bitsAs<float>(
        annudf_kernels::coordinateAt<uint32_t>(element, ANNUDF_COMPUTE_F32, base, i));
    if (!isfinite(value) && !(missing && isnan(value)))
      atomicMin(first, static_cast<unsigned long long>(i));
  }
}

/// Rows as floats less `origin`, each padded with zeros to `stride`.
/// \param chosen  which rows; null: from `first` on.
/// \param fill    of each dimension what stands for a NaN; null: there is none.
extern "C" __global__ void annudf_build_convert(const void *base, const uint32_t *chosen,
                                                uint64_t first, uint64_t count, uint32_t dims,
                                                uint32_t stride, int element, const float *origin,
                                                const float *fill, float *out) {
  const uint32_t quads = stride / 4;
  for (uint64_t i = threadOfGrid(); i < count * quads; i += threadsOfGrid()) {
    const uint64_t row = i / quads, from = chosen ? chosen[row] : first + row;
    const uint32_t begin = static_cast<uint32_t>(i % quads) * 4;
    float values[4];
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t d = begin + j;
      values[j] = 0;
      if (d >= dims)
        continue;
      const auto value = annudf_kernels::bitsAs<float>(annudf_kernels::coordinateAt<uint32_t>(
          element, ANNUDF_COMPUTE_F32, base, from * dims + d));
      values[j] = (fill && isnan(value) ? fill[d] : value) - (origin ? origin[d] : 0.0f);
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

/// Sums of up to ANNUDF_BUILD_SUM_ROWS rows of one list, a block each, in the rows' order.
/// \param order   rows by list; null: as they are.
/// \param chunks  lists + 1: the first such piece of each list.
extern "C" __global__ void __launch_bounds__(128)
    annudf_build_sums(const float *rows, const uint32_t *order, const uint32_t *starts,
                      const uint32_t *chunks, uint32_t lists, uint32_t stride, double *sums) {
  __shared__ uint32_t members[ANNUDF_BUILD_SUM_ROWS];
  __shared__ uint32_t list;
  if (threadIdx.x == 0)
    list = lastStartUpTo(chunks, lists, blockIdx.x);
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
