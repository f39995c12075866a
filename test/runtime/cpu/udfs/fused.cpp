//===- fused.cpp - A product that the compiler fused with a sum
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
  static Acc update(Acc acc, float x, float y, int, const uint64_t *) {
#pragma clang fp contract(on) // As FuseProducts.cpp: llvm.fmuladd.
    return acc + x * y;
  }
  static float finalize(Acc acc, const uint64_t *) { return acc; }
};

ANNUDF_TEST_HOOKS(32, 32)
ANNUDF_TEST_FINALIZE(32)
