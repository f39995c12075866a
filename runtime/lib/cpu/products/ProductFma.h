//===- ProductFma.h - Products of rows in bfloat16 by f32's own --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row's two halves of a word become f32 once for some queries, whose factors are f32. Included by
// the files for AVX2 and AVX-512, and compiled as these are.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTFMA_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTFMA_H

#include "ProductConvert.h"

#include <type_traits>

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

/// ProductKernels::multiply, of kMost queries, at most 8, by kTiles tiles of rows, 1 or 2, at once.
template <int kMost, int kTiles>
void multiply(const void *queries, int32_t count, const uint32_t *pairs, int32_t rowTiles,
              int32_t steps, float *scores) {
  const int32_t words = steps * (kStepDims / 2);
  const int64_t width = 2 * int64_t(words), tileWords = int64_t(words) * kTileRows;
  const int64_t stride = int64_t(rowTiles) * kTileRows;
  for (int32_t r = 0; r < rowTiles;
       r += kTiles, pairs += kTiles * tileWords, scores += kTiles * kTileRows) {
    const auto *x = static_cast<const float *>(queries);
    float *to = scores;
    const auto some = [&]<int kQueries>(std::integral_constant<int, kQueries>) {
      constexpr int kParts = kQueries >= 4 ? 1 : 4 / kQueries;
      products<kQueries, kTiles, kParts>(x, width, pairs, tileWords, words, to, stride);
      x += kQueries * width, to += kQueries * stride;
    };
    int32_t left = count;
    for (; left >= kMost; left -= kMost)
      some(std::integral_constant<int, kMost>());
    if ((left & 4) != 0)
      some(std::integral_constant<int, 4>());
    if ((left & 2) != 0)
      some(std::integral_constant<int, 2>());
    if ((left & 1) != 0)
      some(std::integral_constant<int, 1>());
  }
}

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTFMA_H
