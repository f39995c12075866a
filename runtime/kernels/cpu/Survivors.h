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

using Floats = float __attribute__((ext_vector_type(ANNUDF_CPU_GROUP_ROWS)));
using Bits = bool __attribute__((ext_vector_type(ANNUDF_CPU_GROUP_ROWS)));

/// Reads the distances of a group. A function that returned a vector would tell LLVM that its width
/// is legal, and the scan would have vectors of 512 bits on every processor.
ANNUDF_INLINE void readDistances(Floats &d, const float *distances) {
  __builtin_memcpy(&d, distances, sizeof(d));
}

ANNUDF_INLINE uint32_t maskOf(const Bits &bits) {
  uint32_t mask = 0;
  __builtin_memcpy(&mask, &bits, sizeof(bits));
  return mask;
}

/// Finds those rows of a group whose distance is worse than `limit`; NaN is not.
ANNUDF_INLINE uint32_t worseThan(const float *distances, float limit) {
  Floats d;
  readDistances(d, distances);
  return maskOf(isLargestBest(annudf_cpu_order()) ? __builtin_convertvector(d < limit, Bits)
                                                  : __builtin_convertvector(d > limit, Bits));
}

/// Counts those of `mask` whose distance to query i is NaN.
/// \return the others.
ANNUDF_INLINE uint32_t countNan(const annudf_cpu_scan &s, int32_t i, const int64_t *ids,
                                const float *distances, uint32_t mask) {
  Floats d;
  readDistances(d, distances);
  const uint32_t nan = maskOf(__builtin_convertvector(d != d, Bits)) & mask;
  if (nan != 0 && s.nan) {
    if (s.nan->count == 0)
      s.nan->id = ids[__builtin_ctz(nan)], s.nan->query = s.query[i];
    s.nan->count += __builtin_popcount(nan);
  }
  return mask & ~nan;
}

/// Hands over what of a group, some of `rows`, is not worse than the limit of query i. NaN is not
/// worse either: one compare finds both, and few rows are asked which it is.
ANNUDF_INLINE void push(const annudf_cpu_scan &s, int32_t i, const int64_t *ids,
                        const float *distances, uint32_t rows) {
  uint32_t mask = ~worseThan(distances, s.limit[i]) & rows;
  if (__builtin_expect(mask != 0, 0)) {
    mask = countNan(s, i, ids, distances, mask);
    if (mask != 0)
      s.limit[i] = s.push(s.sink, i, ids, distances, mask);
  }
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_CPU_SURVIVORS_H
