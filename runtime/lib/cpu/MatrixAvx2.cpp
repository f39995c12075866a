//===- MatrixAvx2.cpp - The matrix path's loops for AVX2 with FMA --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for both, whatever the rest is; nothing here runs before availableKernels() has found
// them.
//
//===----------------------------------------------------------------------===//

#include "MatrixFma.h"

#include <immintrin.h>

namespace {

constexpr int32_t kLanes = 8;

struct QueryLanes {
  __m256 base, norm, error;
  explicit QueryLanes(const QueryBound &query)
      : base(_mm256_set1_ps(query.base)), norm(_mm256_set1_ps(query.norm)),
        error(_mm256_set1_ps(query.error)) {}
};

template <bool ofRatio>
inline __attribute__((always_inline)) __m256 boundsAt(const float *scores, const float *base,
                                                      const float *norm, int32_t i,
                                                      const QueryLanes &query) {
  const __m256 score = _mm256_loadu_ps(scores + i), row = _mm256_loadu_ps(base + i);
  const __m256 value = ofRatio ? _mm256_fmsub_ps(_mm256_add_ps(query.base, score), row, query.error)
                               : _mm256_add_ps(_mm256_add_ps(query.base, row), score);
  return _mm256_fnmadd_ps(query.norm, _mm256_loadu_ps(norm + i), value);
}

template <bool ofRatio>
void sample(const float *scores, const float *base, const float *norm, int32_t rows,
            const QueryBound &query, float (&least)[kTileRows]) {
  const QueryLanes lanes(query);
  __m256 first = _mm256_set1_ps(__builtin_inff()), second = first;
  for (int32_t i = 0; i < rows; i += kTileRows) { // Of NaN the second is taken.
    first = _mm256_min_ps(boundsAt<ofRatio>(scores, base, norm, i, lanes), first);
    second = _mm256_min_ps(boundsAt<ofRatio>(scores, base, norm, i + kLanes, lanes), second);
  }
  _mm256_storeu_ps(least, first);
  _mm256_storeu_ps(least + kLanes, second);
}

template <bool ofRatio>
int32_t survivors(const float *scores, const float *base, const float *norm, int32_t rows,
                  const QueryBound &query, float limit, int32_t *which, float *bounds) {
  const QueryLanes lanes(query);
  const __m256 most = _mm256_set1_ps(limit);
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i += kLanes) {
    const __m256 bound = boundsAt<ofRatio>(scores, base, norm, i, lanes);
    // NaN says nothing, so it survives.
    auto mask = uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(bound, most, _CMP_NGT_UQ)));
    if (mask == 0)
      continue;
    float values[kLanes];
    _mm256_storeu_ps(values, bound);
    for (; mask != 0; mask &= mask - 1) {
      const int lane = __builtin_ctz(mask);
      which[count] = i + lane;
      bounds[count++] = values[lane];
    }
  }
  return count;
}

} // namespace

namespace annudf::runtime::cpu {

extern const MatrixKernels kAvx2Kernels;
const MatrixKernels kAvx2Kernels{"avx2",
                                 4,
                                 0.55,
                                 convertBlock,
                                 multiplyByFma<6, 1>,
                                 {survivors<false>, sample<false>},
                                 {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
