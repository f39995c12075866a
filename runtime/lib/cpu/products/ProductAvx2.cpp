//===- ProductAvx2.cpp - The matrix path's loops for AVX2 with FMA -------===//
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

#include "ProductBounds.h"
#include "ProductFma.h"

#include <immintrin.h>

namespace {

constexpr int32_t kLanes = 8;

template <bool ofRatio>
int32_t survivors(const float *scores, const float *base, const float *norm, int32_t rows,
                  const uint32_t *passing, const QueryBound &of, float limit, int32_t *which,
                  float *bounds) {
  const QueryBound query = of; // Which nothing that is written may be.
  const __m256 most = _mm256_set1_ps(limit);
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i += kLanes) {
    const __m256 bound = boundOf<ofRatio>(_mm256_loadu_ps(scores + i), _mm256_loadu_ps(base + i),
                                          _mm256_loadu_ps(norm + i), query);
    // NaN says nothing, so it survives.
    auto mask = uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(bound, most, _CMP_NGT_UQ)));
    if (passing)
      mask &= passing[i / 32] >> (i % 32);
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

extern const ProductKernels kAvx2Kernels;
const ProductKernels kAvx2Kernels{"avx2",
                                  4,
                                  0.55,
                                  convertBlock,
                                  multiply<6, 1>,
                                  {survivors<false>, sample<false>},
                                  {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
