//===- AssignedTest.cpp - Rows whose lists were chosen elsewhere ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "coarse/KMeans.h"
#include "runtime/IndexTesting.h"
#include "runtime/TestData.h"
#include "gtest/gtest.h"

namespace annudf::runtime {
namespace {

using namespace annudf::test;

TEST(AssignedRows, MakeTheIndexThatABuildMakes) {
  for (const uint32_t lists : {1u, 9u}) {
    const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 1234, 13);
    IndexParams params;
    params.nLists = lists, params.kmeansIterations = 3;
    const Index expected = Index::build(params, base.view());
    const AssignBy by = AssignBy::of(params.metric);
    std::vector<uint32_t> assigned(1234);
    CoarseRanker(*expected.listCenters(), by.metric, by.order).assign(base.view(), assigned.data());
    double last = 0;
    const Index made({base.element, base.dims, 0, params.metric, 0, expected.centers(), nullptr},
                     base.view(), assigned, [&](const char *stage, double done) {
                       EXPECT_STREQ(stage, "add");
                       last = done;
                       return true;
                     });
    EXPECT_EQ(last, 1);
    EXPECT_TRUE(made.onHost());
    EXPECT_EQ(made.largestId(), 1233);
    EXPECT_TRUE(sameContent(made, expected));
  }
}

} // namespace
} // namespace annudf::runtime
