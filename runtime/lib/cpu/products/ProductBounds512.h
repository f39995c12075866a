//===- ProductBounds512.h - Rows below a limit, for AVX-512 -----*- C++ -*-===//
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

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS512_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS512_H

#include "ProductBounds.h"

#include <immintrin.h>

namespace {

template <bool ofRatio>
int32_t survivors(const float *scores, const float *base, const float *norm, int32_t rows,
                  const uint32_t *passing, const QueryBound &of, float limit, int32_t *which,
                  float *bounds) {
  const QueryBound query = of; // Which nothing that is written may be.
  const __m512 most = _mm512_set1_ps(limit);
  __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i += kTileRows) {
    const __m512 bound = boundOf<ofRatio>(_mm512_loadu_ps(scores + i), _mm512_loadu_ps(base + i),
                                          _mm512_loadu_ps(norm + i), query);
    __mmask16 mask = _mm512_cmp_ps_mask(bound, most, _CMP_NGT_UQ);
    if (passing)
      mask &= static_cast<__mmask16>(passing[i / 32] >> (i % 32));
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

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS512_H
