//===- MatrixBounds512.h - Bounds of 16 rows at once ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included by what is compiled for AVX-512, whatever the rest is, and by nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_MATRIXBOUNDS512_H
#define ANNUDF_RUNTIME_LIB_CPU_MATRIXBOUNDS512_H

#include "MatrixKernels.h"

#include <immintrin.h>

namespace {

using namespace annudf::runtime::cpu;

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

#endif // ANNUDF_RUNTIME_LIB_CPU_MATRIXBOUNDS512_H
