//===- equal.cpp - Less the more coordinates differ, largest is best
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accumulator does not start at zero.
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  using Acc = float;
  using Compute = float;
  static Acc init() { return 7; }
  static Acc update(Acc acc, float x, float y, int, const uint64_t *) {
    return x != y ? acc - 1 : acc;
  }
  static float finalize(Acc acc, const uint64_t *) { return acc / 2; }
};

ANNUDF_TEST_HOOKS(32, 32)
ANNUDF_TEST_FINALIZE(32)
