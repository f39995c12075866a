//===- ProductBounds.h - A bound of a score ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included by the files of each kind of products, and compiled as these are.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS_H

#include "ProductConvert.h"

namespace {

/// As ProductKernels.h has it. \tparam Number  float or a vector of them.
template <bool ofRatio, class Number>
inline __attribute__((always_inline)) Number boundOf(Number score, Number base, Number norm,
                                                     const QueryBound &query) {
  if (ofRatio)
    return ((query.base + score) * base - query.error) - query.norm * norm;
  return (query.base + base) + score - query.norm * norm;
}

template <bool ofRatio>
void sample(const float *scores, const float *base, const float *norm, int32_t rows,
            const QueryBound &of, float (&least)[kTileRows]) {
  const QueryBound query = of; // Which nothing that is written may be.
  Lanes smallest = Lanes{} + __builtin_inff();
  for (int32_t i = 0; i < rows; i += kTileRows) {
    const Lanes bound =
        boundOf<ofRatio>(loadLanes(scores + i), loadLanes(base + i), loadLanes(norm + i), query);
    smallest = bound < smallest ? bound : smallest; // NaN is not taken.
  }
  __builtin_memcpy(least, &smallest, sizeof(smallest));
}

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS_H
