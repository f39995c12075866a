//===- FilterTest.cpp - Filtered searches of the CPU backend --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FilterTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

TEST(CpuFilter, EqualsTheSearchWithoutOneStruckOut) {
  for (const char *name : {"l2", "inner_product", "weighted_l2"}) {
    const TestMetric &test = testMetric(name);
    const Metric metric = compiled(test);
    const auto backend = makeCpuBackend(2);
    // Three queries are no tile of four, nine are two and one.
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      checkFilters(*backend, metric, test, element, {1, 3, 9});
  }
}

TEST(CpuFilter, RefusesTooFewBits) {
  checkRefusedFilters(*makeCpuBackend(1), compiled(testMetric("l2")));
}

} // namespace
