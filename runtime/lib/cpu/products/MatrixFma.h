//===- MatrixFma.h - Products of rows in bfloat16 by f32's own --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For processors that multiply no bfloat16: a row's two halves of a word become f32 once for some
// queries, whose factors are f32. Included by files that are compiled for such processors.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXFMA_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXFMA_H

#include "MatrixProducts.h"

namespace {

/// Some queries by some tiles of rows. Sums of few would wait for each other, so they have parts.
template <int kQueries, int kTiles, int kParts>
void products(const float *x, int64_t width, const uint32_t *y, int64_t tileWords, int32_t words,
              float *scores, int64_t stride) {
  Lanes sums[kParts][kQueries][kTiles] = {};
  for (int32_t word = 0; word < words; word += kParts)
    for (int part = 0; part < kParts; ++part) {
      const uint32_t *rows = y + int64_t(word + part) * kTileRows;
      const float *factors = x + 2 * (word + part);
      // Without it, the first read of the next ones waits for memory.
      for (int tile = 0; tile < kTiles; ++tile)
        __builtin_prefetch(rows + (2 + tile) * tileWords);
      for (int half = 0; half < 2; ++half) {
        Lanes row[kTiles];
        for (int tile = 0; tile < kTiles; ++tile) {
          Bits both;
          __builtin_memcpy(&both, rows + tile * tileWords, sizeof(both));
          row[tile] = reinterpret_cast<Lanes>(half == 0 ? both << 16 : both & 0xFFFF0000u);
        }
        for (int q = 0; q < kQueries; ++q)
          for (int tile = 0; tile < kTiles; ++tile)
            sums[part][q][tile] += row[tile] * factors[q * width + half];
      }
    }
  for (int q = 0; q < kQueries; ++q)
    for (int tile = 0; tile < kTiles; ++tile) {
      Lanes sum = sums[0][q][tile];
      for (int part = 1; part < kParts; ++part)
        sum += sums[part][q][tile];
      __builtin_memcpy(scores + q * stride + tile * kTileRows, &sum, sizeof(sum));
    }
}

/// \tparam kAtOnce  queries.
template <int kAtOnce, int kRowTiles> struct Fma {
  using Query = float;
  static constexpr int kMost = kAtOnce, kTiles = kRowTiles;
  template <int kQueries>
  static void run(const float *x, int64_t width, const uint32_t *y, int64_t tileWords,
                  int32_t words, float *scores, int64_t stride) {
    constexpr int kParts = kQueries >= 4 ? 1 : 4 / kQueries;
    products<kQueries, kTiles, kParts>(x, width, y, tileWords, words, scores, stride);
  }
};

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_MATRIXFMA_H
