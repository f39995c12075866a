//===- asymmetric.cpp - A branch: what exceeds the query costs double
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
  static Acc update(Acc acc, float x, float y, int dim, const uint64_t *) {
    if (x < y)
      return acc + 2 * (y - x);
    if (dim % 3 == 0)
      return acc + 0.5f * (x - y);
    return acc + (x - y);
  }
  static float finalize(Acc acc, const uint64_t *) { return acc; }
};

ANNUDF_TEST_HOOKS(32, 32)
ANNUDF_TEST_FINALIZE(32)
