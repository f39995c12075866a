//===- Survivors.h - Which rows of a group are handed over ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of Scan.cpp. Vector types, since a loop would not become one compare.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CPU_SURVIVORS_H
#define ANNUDF_KERNELS_CPU_SURVIVORS_H

#include "../Orders.h"
#include "ScanArgs.h"

#define ANNUDF_INLINE inline __attribute__((always_inline))

namespace annudf_kernels {

template <int Rows> using Floats = float __attribute__((ext_vector_type(Rows)));
template <int Rows> using Bits = bool __attribute__((ext_vector_type(Rows)));

/// Reads the distances of the rows [row, row + Rows). A function that returned a vector would tell
/// LLVM that its width is legal, and the scan would have vectors of 512 bits on every processor.
template <int Rows>
ANNUDF_INLINE void readDistances(Floats<Rows> &d, const float *distances, int row) {
  __builtin_memcpy(&d, distances + row, sizeof(d));
}

template <int Rows> ANNUDF_INLINE uint32_t maskOf(const Bits<Rows> &bits, int row) {
  uint32_t mask = 0;
  __builtin_memcpy(&mask, &bits, sizeof(bits));
  return mask << row;
}

/// Finds those of the rows [row, row + Rows) whose distance is worse than `limit`; NaN is not.
template <int Rows> ANNUDF_INLINE uint32_t worseThan(const float *distances, int row, float limit) {
  Floats<Rows> d;
  readDistances<Rows>(d, distances, row);
  const auto worse = isLargestBest(annudf_cpu_order())
                         ? __builtin_convertvector(d < limit, Bits<Rows>)
                         : __builtin_convertvector(d > limit, Bits<Rows>);
  return maskOf<Rows>(worse, row);
}

/// Counts those of `mask`, of the rows [row, row + Rows), whose distance to query i is NaN.
/// \return the others.
template <int Rows>
ANNUDF_INLINE uint32_t countNan(const annudf_cpu_scan &s, int32_t i, const int64_t *ids, int row,
                                const float *distances, uint32_t mask) {
  Floats<Rows> d;
  readDistances<Rows>(d, distances, row);
  const uint32_t nan = maskOf<Rows>(__builtin_convertvector(d != d, Bits<Rows>), row) & mask;
  if (nan != 0 && s.nan) {
    if (s.nan->count == 0)
      s.nan->id = ids[__builtin_ctz(nan)], s.nan->query = s.query[i];
    s.nan->count += __builtin_popcount(nan);
  }
  return mask & ~nan;
}

/// Hands over what of the rows [row, row + Rows), some of `rows`, is not worse than the limit of
/// query i. NaN is not worse either: one compare finds both, and few rows are asked which it is.
template <int Rows>
ANNUDF_INLINE void push(const annudf_cpu_scan &s, int32_t i, const int64_t *ids, int row,
                        const float *distances, uint32_t rows) {
  uint32_t mask = ~worseThan<Rows>(distances, row, s.limit[i]) & rows;
  if (__builtin_expect(mask != 0, 0)) {
    mask = countNan<Rows>(s, i, ids, row, distances, mask);
    if (mask != 0)
      s.limit[i] = s.push(s.sink, i, ids, distances, mask);
  }
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_CPU_SURVIVORS_H
