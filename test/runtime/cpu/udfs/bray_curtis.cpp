//===- bray_curtis.cpp - Two sums in words of 64 bits, of f64 coordinates
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  struct Acc {
    double apart, together;
  };
  using Compute = double;
  static Acc init() { return {0, 0}; }
  static Acc update(Acc a, double x, double y, int, const uint64_t *) {
    return {a.apart + __builtin_fabs(x - y), a.together + __builtin_fabs(x + y)};
  }
  static float finalize(Acc a, const uint64_t *) { return float(a.apart / a.together); }
};

ANNUDF_TEST_FIELDS_HOOKS(64, 64)
ANNUDF_TEST_FIELDS_FINALIZE(64)
