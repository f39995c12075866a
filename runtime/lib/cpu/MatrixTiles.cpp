//===- MatrixTiles.cpp - The matrix path's loops for AMX ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for AVX-512 and AMX, whatever the rest is; nothing here runs before tileKernels() has
// found that the processor has both.
//
//===----------------------------------------------------------------------===//

#include "MatrixConvert.h"

#include <immintrin.h>

namespace {

struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesOfRow[16] = {};
  uint8_t rows[16] = {};
};

/// Tiles 0 to 3 are sums, 4 and 5 queries, 6 and 7 rows.
void shapeTiles() {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i)
    shapes.bytesOfRow[i] = 64, shapes.rows[i] = kTileRows;
  _tile_loadconfig(&shapes);
}

void multiply(const uint16_t *queries, int32_t queryTiles, const uint32_t *pairs, int32_t rowTiles,
              int32_t steps, float *scores) {
  shapeTiles();
  const int64_t width = int64_t(rowTiles) * kTileRows;
  const int64_t queryBytes = int64_t(steps) * kStepDims * 2;
  const int64_t tileQueries = kTileRows * queryBytes / 2, tileWords = int64_t(steps) * 256;
  for (int32_t q = 0; q < queryTiles; q += 2)
    for (int32_t r = 0; r < rowTiles; r += 2) { // A group has two.
      const bool two = q + 1 < queryTiles;
      const uint16_t *x = queries + q * tileQueries;
      const uint32_t *y = pairs + r * tileWords;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (int32_t step = 0; step < steps; ++step, x += kStepDims, y += 256) {
        _tile_loadd(6, y, 64);
        _tile_loadd(7, y + tileWords, 64);
        _tile_loadd(4, x, queryBytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (two) {
          _tile_loadd(5, x + tileQueries, queryBytes);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
      }
      float *to = scores + q * kTileRows * width + r * kTileRows;
      _tile_stored(0, to, width * 4);
      _tile_stored(1, to + kTileRows, width * 4);
      if (two) {
        _tile_stored(2, to + kTileRows * width, width * 4);
        _tile_stored(3, to + kTileRows * width + kTileRows, width * 4);
      }
    }
  _tile_release();
}

struct QueryLanes {
  __m512 base, norm, error;
  explicit QueryLanes(const QueryBound &query)
      : base(_mm512_set1_ps(query.base)), norm(_mm512_set1_ps(query.norm)),
        error(_mm512_set1_ps(query.error)) {}
};

template <bool ofRatio>
inline __attribute__((always_inline)) __m512 boundsAt(const float *scores, const float *base,
                                                      const float *norm, int32_t i,
                                                      const QueryLanes &query) {
  const __m512 score = _mm512_loadu_ps(scores + i), row = _mm512_loadu_ps(base + i);
  const __m512 value = ofRatio ? _mm512_fmsub_ps(_mm512_add_ps(query.base, score), row, query.error)
                               : _mm512_add_ps(_mm512_add_ps(query.base, row), score);
  return _mm512_fnmadd_ps(query.norm, _mm512_loadu_ps(norm + i), value);
}

template <bool ofRatio>
void sample(const float *scores, const float *base, const float *norm, int32_t rows,
            const QueryBound &query, float (&least)[kTileRows]) {
  const QueryLanes lanes(query);
  __m512 smallest = _mm512_set1_ps(__builtin_inff());
  for (int32_t i = 0; i < rows; i += kTileRows)
    smallest = _mm512_min_ps(boundsAt<ofRatio>(scores, base, norm, i, lanes), smallest);
  _mm512_storeu_ps(least, smallest);
}

template <bool ofRatio>
int32_t survivors(const float *scores, const float *base, const float *norm, int32_t rows,
                  const QueryBound &query, float limit, int32_t *which, float *bounds) {
  const QueryLanes lanes(query);
  const __m512 most = _mm512_set1_ps(limit);
  __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i += kTileRows) {
    const __m512 bound = boundsAt<ofRatio>(scores, base, norm, i, lanes);
    const __mmask16 mask = _mm512_cmp_ps_mask(bound, most, _CMP_NGT_UQ);
    if (mask != 0) {
      _mm512_mask_compressstoreu_epi32(which + count, mask, numbers);
      _mm512_mask_compressstoreu_ps(bounds + count, mask, bound);
      count += __builtin_popcount(mask);
    }
    numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(kTileRows));
  }
  return count;
}

} // namespace

namespace annudf::runtime::cpu {

extern const MatrixKernels kTileKernels;
const MatrixKernels kTileKernels{"AMX",
                                 convertBlock,
                                 multiply,
                                 {survivors<false>, sample<false>},
                                 {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
