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
#include "MatrixConvert.h"

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
      // Whoever reads the next ones first waits for memory otherwise.
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

void multiply(const void *of, int32_t count, const uint32_t *pairs, int32_t rowTiles, int32_t steps,
              float *scores) {
  const int32_t words = steps * (kStepDims / 2);
  const int64_t width = 2 * int64_t(words), tileWords = int64_t(words) * kTileRows;
  const int64_t stride = int64_t(rowTiles) * kTileRows;
  for (int32_t r = 0; r < rowTiles; r += 2, pairs += 2 * tileWords, scores += 2 * kTileRows) {
    const auto *x = static_cast<const uint16_t *>(of);
    float *to = scores;
    const auto some = [&](auto loop, int32_t queries) {
      loop(x, width, pairs, tileWords, words, to, stride);
      x += queries * width, to += queries * stride;
    };
    int32_t left = count;
    for (; left >= 8; left -= 8)
      some(products<8, 1>, 8);
    if ((left & 4) != 0)
      some(products<4, 2>, 4);
    if ((left & 2) != 0)
      some(products<2, 4>, 2);
    if ((left & 1) != 0)
      some(products<1, 4>, 1);
  }
}

} // namespace

namespace annudf::runtime::cpu {

extern const MatrixKernels kBfloatKernels;
const MatrixKernels kBfloatKernels{"avx512_bf16",
                                   2,
                                   0.4,
                                   convertBlock,
                                   multiply,
                                   {survivors<false>, sample<false>},
                                   {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
