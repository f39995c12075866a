//===- minkowski.cpp - Capture 0, p: a scalar; calls libm
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  using Acc = float;
  using Compute = float;
  static Acc init() { return 0; }
  static Acc update(Acc acc, float x, float y, int, const uint64_t *slots) {
    return acc + __builtin_powf(__builtin_fabsf(x - y), scalarOf<float>(slots, 0));
  }
  static float finalize(Acc acc, const uint64_t *slots) {
    return __builtin_powf(acc, 1.0f / scalarOf<float>(slots, 0));
  }
};

ANNUDF_TEST_HOOKS(32, 32)
ANNUDF_TEST_FINALIZE(32)
