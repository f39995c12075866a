//===- MatrixProducts.h - Which queries are multiplied at once --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For products that vectors hold, some queries and tiles of rows at a time. Included by the files
// of each kind of products, and compiled as these are.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXPRODUCTS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXPRODUCTS_H

#include "MatrixConvert.h"

namespace {

/// MatrixKernels::multiply.
/// \tparam Products  has what it reads a query's coordinates as (Query), how many queries (kMost,
/// at
///   most 8) and tiles of rows (kTiles, 1 or 2) it multiplies at once, and run<queries>().
template <class Products>
void multiplyBy(const void *queries, int32_t count, const uint32_t *pairs, int32_t rowTiles,
                int32_t steps, float *scores) {
  constexpr int kMost = Products::kMost, kTiles = Products::kTiles;
  const int32_t words = steps * (kStepDims / 2);
  const int64_t width = 2 * int64_t(words), tileWords = int64_t(words) * kTileRows;
  const int64_t stride = int64_t(rowTiles) * kTileRows;
  for (int32_t r = 0; r < rowTiles;
       r += kTiles, pairs += kTiles * tileWords, scores += kTiles * kTileRows) {
    const auto *x = static_cast<const typename Products::Query *>(queries);
    float *to = scores;
    const auto some = [&](auto run, int32_t taken) {
      run(x, width, pairs, tileWords, words, to, stride);
      x += taken * width, to += taken * stride;
    };
    int32_t left = count;
    for (; left >= kMost; left -= kMost)
      some(Products::template run<kMost>, kMost);
    if constexpr (kMost > 4)
      if ((left & 4) != 0)
        some(Products::template run<4>, 4);
    if ((left & 2) != 0)
      some(Products::template run<2>, 2);
    if ((left & 1) != 0)
      some(Products::template run<1>, 1);
  }
}

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXPRODUCTS_H
