//===- proved_chord.cpp - Capture 0, w: one weight a dimension; NaN where rounding gives more than 1
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  struct Acc {
    float xx, xy, yy;
  };
  using Compute = float;
  static Acc init() { return {0, 0, 0}; }
  static Acc update(Acc a, float x, float y, int dim, const uint64_t *slots) {
    const float w = arrayOf<float>(slots, 0)[dim];
    return {a.xx + w * x * x, a.xy + w * x * y, a.yy + w * y * y};
  }
  static float finalize(Acc a, const uint64_t *) {
    return __builtin_sqrtf(2 - 2 * (a.xy / __builtin_sqrtf(a.xx * a.yy)));
  }
};

ANNUDF_TEST_FIELDS_HOOKS(32, 32)
ANNUDF_TEST_FIELDS_FINALIZE(32)
