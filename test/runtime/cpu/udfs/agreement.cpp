//===- agreement.cpp - Coordinates that agree, largest is best
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padding would count, since zero agrees with zero; and the accumulator does not start at zero.
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  using Acc = int32_t;
  using Compute = float;
  static Acc init() { return -5; }
  static Acc update(Acc acc, float x, float y, int, const uint64_t *) {
    return acc + (__builtin_fabsf(x - y) < 20.0f ? 1 : 0);
  }
  static float finalize(Acc acc, const uint64_t *) { return float(acc); }
};

ANNUDF_TEST_HOOKS(32, 32)
ANNUDF_TEST_FINALIZE(32)
