//===- PlanOnceTest.cpp - A search on a GPU is planned once ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one the test is skipped and says so. What planners choose is tested without
// (FamiliesTest.cpp, engine/PlanTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int kK = 10;

/// Plans and texts that `work` makes.
template <class Work> PlannerCounts countsOf(Work work) {
  const PlannerCounts before = plannerCounts();
  work();
  return {plannerCounts().plans - before.plans, plannerCounts().texts - before.texts};
}

TEST(CudaPlans, AreMadeOnceASearchAndToldOnlyWithStatistics) {
  REQUIRE_GPU("plans of a search are");
  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 64, 1),
                           queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 1000, 64, 2);
  IndexParams params;
  params.nLists = 64, params.kmeansIterations = 5;
  const Index index = Index::build(params, view(base));
  const Metric metric = unfusedMetric(testMetric("l2"));
  const BoundCaptures captures = bind(metric, queries.dims);
  std::vector<int64_t> ids(size_t(queries.rows) * kK);
  std::vector<float> distances(ids.size());
  // In one batch, and in many.
  for (const char *workspace : {"1024", "1"}) {
    SCOPED_TRACE(workspace);
    ::setenv("ANNUDF_WORKSPACE_MIB", workspace, 1);
    const auto backend = makeCudaDeviceBackend();
    ::unsetenv("ANNUDF_WORKSPACE_MIB");
    for (const char *family : {"", "pairs", "tiles", "staged"}) {
      SCOPED_TRACE(family);
      const SearchParams how = {.candidates = Lists{32}, .family = family};
      const auto search = [&](SearchStats *stats) {
        backend->search(index, metric, captures, view(queries), kK, how, ids.data(),
                        distances.data(), stats);
      };
      const PlannerCounts silent = countsOf([&] { search(nullptr); });
      EXPECT_EQ(silent.plans, 1u);
      EXPECT_EQ(silent.texts, 0u);
      SearchStats stats;
      const PlannerCounts told = countsOf([&] { search(&stats); });
      EXPECT_EQ(told.plans, 1u);
      EXPECT_GE(told.texts, 1u);
      EXPECT_FALSE(stats.why.empty());
      const auto prepare = [&] {
        (void)backend->prepareDevice(index, metric, captures, view(queries), kK, how, nullptr,
                                     nullptr);
      };
      const PlannerCounts prepared = countsOf(prepare);
      EXPECT_EQ(prepared.plans, 1u);
      EXPECT_EQ(prepared.texts, 0u);
    }
  }
}

} // namespace
