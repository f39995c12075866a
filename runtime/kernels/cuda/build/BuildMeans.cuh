//===- BuildMeans.cuh - Means as the host makes them ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands for missing values, and adaptive centers: sums in double in the order in which
// Missing.cpp and NewRows.cpp add, so that they are the same to the bit. A thread has a dimension,
// and its rows one behind the other. Of Build.cu.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_BUILD_BUILDMEANS_CUH
#define ANNUDF_KERNELS_CUDA_BUILD_BUILDMEANS_CUH

#include "../../Coordinates.h"
#include "BuildGrid.cuh"

namespace {

constexpr uint32_t kMeanThreads = ANNUDF_BUILD_MEAN_DIMS;

/// What stands for a missing value; a NaN where nothing does.
__device__ __forceinline__ float fillOf(const float *fill, uint32_t d) {
  return fill ? fill[d] : __uint_as_float(0x7FC00000u);
}

/// Element `i` of those in memory as a float.
template <int element>
__device__ __forceinline__ float valueAt(const void *memory, uint64_t i, float fill) {
  const auto value = static_cast<float>(
      annudf_kernels::Element<element>::decode(annudf_kernels::elementAt<element>(memory, i)));
  return isnan(value) ? fill : value;
}

template <int element>
__device__ void sumPresent(const void *base, uint64_t begin, uint64_t end, uint32_t dims,
                           uint32_t d, double &sum, int64_t &count) {
  if constexpr (annudf_kernels::ElementRow<element>::kKind == annudf_kernels::Kind::FLOAT)
#pragma unroll 8
    for (uint64_t r = begin; r < end; ++r) {
      const float value = valueAt<element>(base, r * dims + d, fillOf(nullptr, d));
      const bool known = !isnan(value);
      sum += known ? value : 0.0f;
      count += known;
    }
}

/// Elements of 16 bytes of a row of a list.
template <int element>
constexpr uint32_t kPerChunk = 128 / annudf_kernels::ElementRow<element>::kBits;

/// With the padding of the last group, whose zeros change no sum.
template <int element>
__device__ double sumGroups(const uint4 *rows, uint32_t groups, uint32_t chunks, float fill,
                            const double *scales, uint32_t d) {
  const uint32_t place = d % kPerChunk<element>;
  rows += static_cast<uint64_t>(d / kPerChunk<element>) * 32;
  double sum = 0;
  for (uint32_t g = 0; g < groups; ++g, rows += static_cast<uint64_t>(chunks) * 32)
#pragma unroll 8
    for (uint32_t r = 0; r < 32; ++r) {
      const float value = valueAt<element>(rows + r, place, fill);
      sum += scales ? static_cast<float>(value * scales[g * uint64_t(32) + r]) : value;
    }
  return sum;
}

template <int element>
__device__ double squareOfRow(const uint4 *row, uint32_t dims, const float *fill) {
  double square = 0;
#pragma unroll 2
  for (uint32_t d = 0; d < dims; ++d) {
    const float value = valueAt<element>(row + static_cast<uint64_t>(d / kPerChunk<element>) * 32,
                                         d % kPerChunk<element>, fillOf(fill, d));
    square += static_cast<double>(value) * value; // Exact, fused or not.
  }
  return square;
}

} // namespace

/// Per dimension the sum and the count of the values that are there, by pieces of rows of
/// floats: a block for 128 dimensions of a piece.
/// \param sums, counts  pieces x dims.
extern "C" __global__ void __launch_bounds__(kMeanThreads)
    annudf_build_present(const void *base, uint64_t rows, uint64_t rowsOfPiece, uint32_t dims,
                         int element, double *sums, int64_t *counts) {
  const uint32_t slices = (dims - 1) / kMeanThreads + 1;
  const uint64_t piece = blockIdx.x / slices;
  const uint32_t d = blockIdx.x % slices * kMeanThreads + threadIdx.x;
  if (d >= dims)
    return;
  const uint64_t begin = piece * rowsOfPiece, after = begin + rowsOfPiece,
                 end = after < rows ? after : rows;
  double sum = 0;
  int64_t count = 0;
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    sumPresent<VALUE>(base, begin, end, dims, d, sum, count);                                      \
    break;
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  sums[piece * dims + d] = sum, counts[piece * dims + d] = count;
}

/// What scales each row of lists to length 1, a warp for each group; 1 for a row of zeros.
extern "C" __global__ void annudf_list_scales(const uint4 *rows, uint64_t groups, uint32_t chunks,
                                              uint32_t dims, int element, const float *fill,
                                              double *scales) {
  const uint32_t lane = threadIdx.x & 31;
  for (uint64_t g = threadOfGrid() / 32; g < groups; g += threadsOfGrid() / 32) {
    const uint4 *row = rows + g * chunks * 32 + lane;
    double square = 0;
    switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    square = squareOfRow<VALUE>(row, dims, fill);                                                  \
    break;
      ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
    }
    scales[g * 32 + lane] = square == 0 ? 1 : 1 / sqrt(square);
  }
}

/// The means of lists, a block for 128 dimensions of one at a time; a list without rows keeps its
/// center.
/// \param before  sizes: of lists that still have as many the center stays too; null: of none.
/// \param scales  annudf_list_scales'; null: rows count as they are.
/// \param centers lists x dims.
extern "C" __global__ void __launch_bounds__(kMeanThreads)
    annudf_list_means(const uint4 *rows, const uint32_t *listGroup, const uint32_t *listSize,
                      const uint32_t *before, uint32_t lists, uint32_t chunks, uint32_t dims,
                      int element, const float *fill, const double *scales, float *centers) {
  const uint32_t slices = (dims - 1) / kMeanThreads + 1;
  for (uint64_t b = blockIdx.x; b < static_cast<uint64_t>(lists) * slices; b += gridDim.x) {
    const auto list = static_cast<uint32_t>(b / slices);
    const uint32_t d = static_cast<uint32_t>(b % slices) * kMeanThreads + threadIdx.x;
    const uint32_t size = listSize[list];
    if (d >= dims || size == 0 || (before && before[list] == size))
      continue;
    const uint64_t group = listGroup[list];
    const uint4 *first = rows + group * chunks * 32;
    const double *own = scales ? scales + group * 32 : nullptr;
    double sum = 0;
    switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    sum = sumGroups<VALUE>(first, (size + 31) / 32, chunks, fillOf(fill, d), own, d);              \
    break;
      ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
    }
    centers[static_cast<uint64_t>(list) * dims + d] = static_cast<float>(sum / size);
  }
}

#endif // ANNUDF_KERNELS_CUDA_BUILD_BUILDMEANS_CUH
