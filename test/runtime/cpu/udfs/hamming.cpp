//===- hamming.cpp - Bits that differ, for 8-bit elements; integer accumulator
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "udf.h"

struct MetricBody {
  using Acc = int32_t;
  using Compute = int32_t;
  static Acc init() { return 0; }
  static Acc update(Acc acc, int32_t x, int32_t y, int, const uint64_t *) {
    return acc + __builtin_popcount((x ^ y) & 0xff);
  }
};

ANNUDF_TEST_HOOKS(32, 32)
