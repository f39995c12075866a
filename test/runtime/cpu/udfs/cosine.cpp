//===- cosine.cpp - Three sums in words of 32 bits
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  struct Acc {
    float xy, xx, yy;
  };
  using Compute = float;
  static Acc init() { return {0, 0, 0}; }
  static Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return {__builtin_fmaf(x, y, a.xy), __builtin_fmaf(x, x, a.xx), __builtin_fmaf(y, y, a.yy)};
  }
  static float finalize(Acc a, const uint64_t *) { return 1 - a.xy / __builtin_sqrtf(a.xx * a.yy); }
};

ANNUDF_TEST_FIELDS_HOOKS(32, 32)
ANNUDF_TEST_FIELDS_FINALIZE(32)
