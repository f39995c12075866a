//===- l2_f64.cpp - Sum of squared differences in float64
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  using Acc = double;
  using Compute = double;
  static Acc init() { return 0; }
  static Acc update(Acc acc, double x, double y, int, const uint64_t *) {
    return __builtin_fma(x - y, x - y, acc);
  }
};

ANNUDF_TEST_HOOKS(64, 64)
