//===- proved_correlation.cpp - One less Pearson's, of five sums
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  struct Acc {
    float x, y, xx, yy, xy;
  };
  using Compute = float;
  static Acc init() { return {0, 0, 0, 0, 0}; }
  static Acc update(Acc a, float x, float y, int, const uint64_t *) {
    return {a.x + x, a.y + y, __builtin_fmaf(x, x, a.xx), __builtin_fmaf(y, y, a.yy),
            __builtin_fmaf(x, y, a.xy)};
  }
};

ANNUDF_TEST_FIELDS_HOOKS(32, 32)

extern "C" float annudf1_scan_finalize_s32(const uint32_t *acc, int32_t dims, int64_t, int32_t,
                                           int32_t, const uint64_t *) {
  MetricBody::Acc a;
  __builtin_memcpy(&a, acc, sizeof a);
  const auto n = float(dims);
  return 1 -
         (a.xy - a.x * a.y / n) / __builtin_sqrtf((a.xx - a.x * a.x / n) * (a.yy - a.y * a.y / n));
}
