//===- RadiusTest.cpp - The GPU's radius search, by each family -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "SharedBackend.h"

#include "runtime/FilterTesting.h"
#include "runtime/RadiusTesting.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct Case {
  const char *family;
  const char *metric = "l2";
  annudf_element element = ANNUDF_ELEMENT_F32;
  int least = 75; ///< Architecture.
};

Metric metricOf(const Case &of) {
  const TestMetric &metric = testMetric(of.metric);
  if (std::string(of.family) != "parts")
    return unfusedMetric(metric);
  Artifact artifact = cudaArtifact(metric, readFatbin("l2_in_parts"));
  artifact.manifest = inParts(artifact.manifest);
  return Metric::fromArtifact(std::move(artifact), "l2_in_parts.annudf");
}

class CudaRadius : public testing::TestWithParam<Case> {};

TEST_P(CudaRadius, FindsWhatAWholeSearchHas) {
  REQUIRE_GPU("the radius search is");
  const Case &of = GetParam();
  if (sharedBackend()->arch() < of.least)
    GTEST_SKIP() << of.family << " needs sm_" << of.least;
  constexpr int64_t kRows = 3000;
  constexpr int32_t kDims = 96;
  const Metric metric = metricOf(of);
  const auto base = reference::randomVectors(of.element, kRows, kDims, 3);
  const Index index = build(base, 9);
  const BoundCaptures captures = bind(metric, kDims);
  const auto filters = manyFilters(kRows);
  for (const int64_t count : {1, 10, 1000}) {
    const auto queries = reference::randomVectors(of.element, count, kDims, 4);
    for (const uint32_t probes : {2u, 9u})
      for (size_t f = 0; f <= filters.size(); ++f) {
        if (count == 1000 && f % 3 != 1)
          continue;
        RadiusSearch search{*sharedBackend(), index, metric, captures, view(queries), {}};
        search.params.candidates = Lists{probes};
        search.params.filter = f < filters.size() ? filters[f] : nullptr;
        search.params.family = of.family;
        SCOPED_TRACE(std::to_string(count) + " queries, " + std::to_string(probes) +
                     " probes, filter " + std::to_string(f));
        // The bits of "parts" are its own.
        checkRadii(search,
                   EveryNeighbour(search, std::string(of.family) == "parts" ? "parts" : "pairs"));
        if (HasFailure())
          return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaRadius,
                         testing::Values(Case{"pairs"},
                                         Case{"pairs", "inner_product", ANNUDF_ELEMENT_F16},
                                         Case{"parts"}, Case{"tiles"}, Case{"tiles", "weighted_l2"},
                                         Case{"staged", "l2", ANNUDF_ELEMENT_F32, 80},
                                         Case{"packed", "l2", ANNUDF_ELEMENT_U8, 80},
                                         Case{"packed", "inner_product", ANNUDF_ELEMENT_I8, 80}),
                         [](const auto &info) {
                           return std::string(info.param.family) + "_" + info.param.metric + "_" +
                                  toString(info.param.element);
                         });

TEST(CudaRadiusSearch, CountsNaNAndTimesStages) {
  REQUIRE_GPU("the radius search is");
  const Metric metric = cudaMetric(testMetric("cosine"));
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 8, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 7, 8, 2);
  std::memset(base.encoded.data() + 10 * 8 * sizeof(float), 0, 5 * 8 * sizeof(float));
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 8);
  RadiusSearch search{*sharedBackend(), index, metric, captures, view(queries), {}};
  search.params.timeStages = true;
  SearchStats stats;
  const WithinRadius found = search.run(std::numeric_limits<float>::infinity(), 7 * 295, &stats);
  EXPECT_EQ(found.starts.back(), 7 * 295);
  EXPECT_EQ(stats.nanDistances, 7 * 5);
  EXPECT_EQ(stats.scored, 7 * 300);
  EXPECT_EQ(stats.rowsPerQuery, 300);
  EXPECT_FALSE(stats.family.empty());
  ASSERT_FALSE(stats.stages.empty());
  EXPECT_EQ(stats.stages.back().name, "finish");
  checkRadii(search, EveryNeighbour(search));
}

TEST(CudaRadiusSearch, RefusesFamiliesThatKeepTheBest) {
  REQUIRE_GPU("the radius search is");
  if (sharedBackend()->arch() < 80)
    GTEST_SKIP() << "staged needs sm_80";
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 8, 1);
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 8);
  RadiusSearch search{*sharedBackend(), index, metric, captures, view(base), {}};
  search.params.family = "staged_granules";
  EXPECT_EQ(search.refusal(1), "other: family 'staged_granules' cannot run this search: the call "
                               "finds all rows within a radius, not the k best");
  search.params.family = {};
  search.params.progress = [](const char *, double) { return false; };
  EXPECT_TRUE(search.refusal(1).starts_with("other: "));
}

} // namespace
