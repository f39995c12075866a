//===- tanimoto.cpp - Bits that two rows share; four fields, one weighted
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  struct Acc {
    uint32_t both, either;
    int32_t last;
    float weight;
  };
  using Compute = int32_t;
  static Acc init() { return {0, 0, -1, 0.5f}; }
  static Acc update(Acc a, int32_t x, int32_t y, int dim, const uint64_t *) {
    return {a.both + __builtin_popcount(x & y & 0xff),
            a.either + __builtin_popcount((x | y) & 0xff), dim, a.weight};
  }
  static float finalize(Acc a, const uint64_t *) {
    const float shift = 0.001f * float(a.last % 7);
    return 1 - (float(a.both) + a.weight) / (float(a.either) + a.weight) + shift;
  }
};

ANNUDF_TEST_FIELDS_HOOKS(32, 32)
ANNUDF_TEST_FIELDS_FINALIZE(32)
