//===- ProductRows.cuh - Rows as tiles of panels ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels of Products.cu share that look at rows and queries themselves.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTROWS_CUH
#define ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTROWS_CUH

#include "../common/ProductArgs.h"
#include "../common/Starts.cuh"
#include "ProductStages.cuh"

#include "../../Coordinates.h"

#include <cstdint>

namespace {

using namespace annudf_kernels;

constexpr int kPanelDims = ANNUDF_MATRIX_PANEL_DIMS, kRows = ANNUDF_MATRIX_ROWS;
constexpr int kTerms = ANNUDF_MATRIX_TERMS;
/// Roundoff of half precision, with what a float on the way adds; half the smallest step over it.
constexpr double kUnit = 0x1.001p-11, kTiny = 0x1p-14;
/// What a dimension loses where the floats of a bound are below the normal range: a product of two
/// scales is off by 2^-150, and the sum that it scales at most 2^28.
constexpr double kUnderflow = 0x1p-120;

template <class T> __device__ __forceinline__ T *pointer(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

/// Column of the product for row `row` of a tile: the 8 results that a thread of a warp has of a
/// query's n8 blocks 4 i to 4 i + 3 are granule i of group lane % 4.
__device__ __forceinline__ int columnOf(int row) {
  const int group = row / 32, granule = row % 32 / ANNUDF_GRANULE_ROWS,
            r = row % ANNUDF_GRANULE_ROWS;
  return (granule * 4 + r / 2) * 8 + 2 * group + r % 2;
}

/// The power of two that brings `most` into [2^13, 2^14); 1 where there is none.
__device__ __forceinline__ float scaleFor(float most) {
  const int exponent = static_cast<int>(__float_as_uint(most) >> 23) - 127;
  return __uint_as_float(static_cast<uint32_t>(min(max(127 + 13 - exponent, 1), 253)) << 23);
}

/// A row of the index.
struct Row {
  const uint32_t *words; ///< Words of its first chunk.
  int element, perWord;
  /// Coordinate `d`, which is a float.
  __device__ __forceinline__ double at(int d) const {
    const int w = d / perWord;
    const uint32_t word = __ldg(words + w / 4 * 128 + w % 4);
    return bitsAs<float>(coordinateOf<uint32_t>(element, ANNUDF_COMPUTE_F32, word, d % perWord));
  }
};

/// Which rows a block of a kernel over tiles has: a thread each.
struct TileRow {
  int list, row; ///< Row of the tile.
  bool exists;
  bool isOfRows; ///< Whether any row of its granule does.
  uint64_t tile;
  uint64_t place; ///< The row's in the index; where there is none, that of its list's last.
  Row coordinates;
  __device__ TileRow(const annudf_matrix_args &args) {
    const annudf_device_index &index = args.scan.index;
    const uint32_t *start = pointer<const uint32_t>(args.tileStart);
    tile = blockIdx.x, row = static_cast<int>(threadIdx.x);
    const uint32_t low = lastStartUpTo(start, index.nLists, blockIdx.x);
    list = static_cast<int>(low);
    const uint32_t inList = static_cast<uint32_t>(tile - start[low]) * kRows + threadIdx.x;
    const uint32_t size = pointer<const uint32_t>(index.listSize)[low];
    exists = inList < size;
    isOfRows = inList / ANNUDF_GRANULE_ROWS * ANNUDF_GRANULE_ROWS < size;
    const uint32_t from = min(inList, size - 1);
    const uint64_t group = pointer<const uint32_t>(index.listGroup)[low] + from / 32;
    place = group * 32 + from % 32;
    const int element = static_cast<int>(args.element);
    coordinates = {reinterpret_cast<const uint32_t *>(pointer<const uint4>(index.rows) +
                                                      group * index.chunks * 32 + from % 32),
                   element, elementsPerWord(element)};
  }
};

__device__ __forceinline__ double shiftOf(const annudf_matrix_args &args, int d) {
  return pointer<const annudf_matrix_dim>(args.form.dims)[d].shift;
}

/// Writes the panels of a row, in half precision times its list's scale, zeros where there is none.
/// \param at  its coordinate number `i`, of `length`.
template <class At>
__device__ __forceinline__ void writePanels(const annudf_matrix_args &args, const TileRow &row,
                                            int length, At at) {
  const int column = columnOf(row.row);
  const float scale = pointer<const float>(args.listScale)[row.list];
  uint4 *panels =
      pointer<uint4>(args.panels) + row.tile * args.nPanels * (ANNUDF_MATRIX_PANEL_BYTES / 16);
  for (int eight = 0; eight < static_cast<int>(args.nPanels) * (kPanelDims / 8); ++eight) {
    __half half[8];
    for (int j = 0; j < 8; ++j) {
      const int i = eight * 8 + j;
      const double coordinate = i < length && row.isOfRows ? at(i) : 0;
      half[j] = __float2half_rn(static_cast<float>(coordinate * scale));
    }
    uint4 word;
    memcpy(&word, half, sizeof word);
    panels[eight / 8 * (ANNUDF_MATRIX_PANEL_BYTES / 16) + placeOf(column, eight % 8)] = word;
  }
}

/// The greatest of the lengths of a tile's rows in each granule, of the tile's thread `t`.
__device__ __forceinline__ void writeLongest(float *terms, const float (&longest)[kRows], int t) {
  if (t >= kRows / ANNUDF_GRANULE_ROWS)
    return;
  const int group = t / ANNUDF_GRANULES, granule = t % ANNUDF_GRANULES;
  float most = -INFINITY;
  for (int r = 0; r < ANNUDF_GRANULE_ROWS; ++r)
    most = fmaxf(most, longest[group * 32 + granule * ANNUDF_GRANULE_ROWS + r]);
  terms[kRows + t] = most;
}

/// What products lose of a query's and a row's lengths: both factors rounded, the tensor cores'
/// sums, each of which may be cut off, and the floats of a bound.
__device__ __forceinline__ double lengthFactor(int dims) {
  return 2 * kUnit + kUnit * kUnit + (2 * dims + 32) * 0x1p-23 + 0x1p-20;
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_PRODUCTS_PRODUCTROWS_CUH
