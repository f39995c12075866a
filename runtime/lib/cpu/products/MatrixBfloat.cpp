//===- MatrixBfloat.cpp - Products by AVX-512's dot products of bfloat16 -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for AVX-512 with BF16, whatever the rest is; nothing here runs before
// availableKernels() has found both.
//
//===----------------------------------------------------------------------===//

#include "MatrixBounds512.h"
#include "MatrixProducts.h"

namespace {

/// Some queries by two tiles of rows. Sums of few would wait for each other, so they have parts.
template <int kQueries, int kParts>
void products(const uint16_t *x, int64_t width, const uint32_t *y, int64_t tileWords, int32_t words,
              float *scores, int64_t stride) {
  __m512 sums[kParts][kQueries][2];
  for (auto &part : sums)
    for (auto &query : part)
      query[0] = query[1] = _mm512_setzero_ps();
  for (int32_t word = 0; word < words; word += kParts)
    for (int part = 0; part < kParts; ++part) {
      const uint32_t *rows = y + int64_t(word + part) * kTileRows;
      // Without it, the first read of the next ones waits for memory.
      __builtin_prefetch(rows + 2 * tileWords);
      __builtin_prefetch(rows + 3 * tileWords);
      const auto first = __m512bh(_mm512_loadu_si512(rows));
      const auto second = __m512bh(_mm512_loadu_si512(rows + tileWords));
      for (int q = 0; q < kQueries; ++q) {
        int32_t both;
        __builtin_memcpy(&both, x + q * width + 2 * (word + part), sizeof(both));
        const auto factors = __m512bh(_mm512_set1_epi32(both));
        sums[part][q][0] = _mm512_dpbf16_ps(sums[part][q][0], factors, first);
        sums[part][q][1] = _mm512_dpbf16_ps(sums[part][q][1], factors, second);
      }
    }
  for (int q = 0; q < kQueries; ++q)
    for (int tile = 0; tile < 2; ++tile) {
      __m512 sum = sums[0][q][tile];
      for (int part = 1; part < kParts; ++part)
        sum = _mm512_add_ps(sum, sums[part][q][tile]);
      _mm512_storeu_ps(scores + q * stride + tile * kTileRows, sum);
    }
}

struct DotProducts {
  using Query = uint16_t;
  static constexpr int kMost = 8, kTiles = 2;
  template <int kQueries>
  static void run(const uint16_t *x, int64_t width, const uint32_t *y, int64_t tileWords,
                  int32_t words, float *scores, int64_t stride) {
    constexpr int kParts = kQueries >= 2 ? 8 / kQueries : 4;
    products<kQueries, kParts>(x, width, y, tileWords, words, scores, stride);
  }
};

} // namespace

namespace annudf::runtime::cpu {

extern const MatrixKernels kBfloatKernels;
const MatrixKernels kBfloatKernels{"avx512_bf16",
                                   2,
                                   0.4,
                                   convertBlock,
                                   multiplyBy<DotProducts>,
                                   {survivors<false>, sample<false>},
                                   {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
