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

/// The bits of 16 rows from row i on, each on all of a lane.
inline __attribute__((always_inline)) auto lanesOf(const uint32_t *passing, int32_t i) {
  using Ints = int32_t __attribute__((vector_size(sizeof(Lanes))));
  const Ints bit = {1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                    1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  return (bit & int32_t(passing[i / 32] >> (i % 32))) != 0;
}

template <bool ofRatio>
void sample(const float *scores, const float *base, const float *norm, int32_t rows,
            const uint32_t *passing, const QueryBound &of, float (&least)[kTileRows]) {
  const QueryBound query = of; // Which nothing that is written may be.
  Lanes smallest = Lanes{} + __builtin_inff();
  for (int32_t i = 0; i < rows; i += kTileRows) {
    const Lanes bound =
        boundOf<ofRatio>(loadLanes(scores + i), loadLanes(base + i), loadLanes(norm + i), query);
    const Lanes taken = bound < smallest ? bound : smallest; // NaN is not taken.
    smallest = passing ? lanesOf(passing, i) ? taken : smallest : taken;
  }
  __builtin_memcpy(least, &smallest, sizeof(smallest));
}

} // namespace

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTBOUNDS_H
