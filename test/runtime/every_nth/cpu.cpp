//===- cpu.cpp - Every n-th list on a CPU ---------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EveryNthTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

TEST(CpuEveryNth, EqualsASort) {
  const auto backend = makeCpuBackend(2);
  for (const char *name : {"l2", "inner_product", "weighted_l2"})
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8}) {
      const EveryNthWorld world(element, 2000, 13, 19);
      checkEveryNth(*backend, compiled(testMetric(name)), testMetric(name), world);
    }
}

TEST(CpuEveryNth, EqualsASortByMatrixProducts) {
  const auto backend = makeCpuBackend(2);
  if (backend->machine().productCost == 0)
    GTEST_SKIP() << "this processor multiplies no matrices: products NOT checked";
  const EveryNthWorld world(ANNUDF_ELEMENT_F32, 2000, 40, 32);
  int checked = 0;
  for (const TestMetric &test : provedMetrics())
    if (!test.form->lengths && test.order == ANNUDF_ORDER_MIN) {
      checkEveryNth(*backend, compiled(test), test, world, "matrix");
      ++checked;
    }
  EXPECT_EQ(checked, 2);
}

TEST(CpuEveryNth, ATableIsCheckedBeforeTheSearch) {
  const EveryNthWorld world(ANNUDF_ELEMENT_F32, 200, 2, 4);
  const Metric metric = compiled(testMetric("l2"));
  const auto fault = [&](const Candidates &candidates) -> std::string {
    try {
      checkSearch(world.store, metric, view(world.queries), 1, {.candidates = candidates});
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      return error.what();
    }
    return "";
  };
  std::vector<uint32_t> table = {0, 1, 2, 23, 5, 0};
  EXPECT_EQ(fault(Given{table.data(), 3}), "");
  table[4] = 24;
  EXPECT_EQ(fault(Given{table.data(), 3}),
            "query 1 names list 24 at 1; the index has lists 0 to 23");
  table[4] = 23;
  EXPECT_EQ(fault(Given{table.data(), 3}),
            "query 1 names list 23 at 1 again; name each list once a query");
  EXPECT_EQ(fault(Given{nullptr, 3}),
            "the lists of each query are missing; give 2 x 3 list numbers");
  EXPECT_EQ(fault(Given{table.data(), 0}),
            "probes is 0, it must be an integer from 1 to 24, the lists of the index");
  EXPECT_EQ(fault(Lists{3}), "probes = 3: the index's 24 lists have no centers to rank by; probe "
                             "all lists, or name the lists of each query");
  EXPECT_EQ(fault(Lists{24}), "");
}

} // namespace
