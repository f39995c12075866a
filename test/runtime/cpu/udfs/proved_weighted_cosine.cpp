//===- proved_weighted_cosine.cpp - Capture 0, w: one weight a dimension; never below a half
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
    const float norms = __builtin_sqrtf(a.xx) * __builtin_sqrtf(a.yy);
    const float distance = norms == 0 ? 1 : 1 - a.xy / norms;
    return distance < 0.5f ? 0.5f : distance;
  }
};

ANNUDF_TEST_FIELDS_HOOKS(32, 32)
ANNUDF_TEST_FIELDS_FINALIZE(32)
