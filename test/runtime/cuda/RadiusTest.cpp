//===- RadiusTest.cpp - The GPU's radius search, by each family -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "CompiledMetrics.h"
#include "SharedBackend.h"

#include "runtime/FilterTesting.h"
#include "runtime/PredicateTesting.h"
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

/// Families whose hooks find the rows, of metrics that our compiler made.
class CudaRadiusByHooks : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    REQUIRE_COMPILED_METRICS(folder, "l2.annudf", "radius searches by bounds are");
    REQUIRE_GPU("radius searches by bounds are");
    const Case &of = GetParam();
    const int arch = sharedBackend()->arch();
    if (arch < of.least || (of.family == std::string("matrix") && arch != 90))
      GTEST_SKIP() << "sm_" << arch << " has no kernels of " << of.family << ": NOT checked";
  }
  std::string folder;
};

TEST_P(CudaRadiusByHooks, FindsWhatAWholeSearchHas) {
  const Case &of = GetParam();
  constexpr int64_t kRows = 2500;
  constexpr int32_t kDims = 70;
  const Metric metric = Metric::fromFile(folder + "/" + of.metric + ".annudf");
  auto base = reference::randomVectors(of.element, kRows, kDims, 3);
  const size_t some = base.encoded.size() / size_t(kRows) * 300; // Ties, but for their ids.
  std::copy_n(base.encoded.begin(), some, base.encoded.begin() + std::ptrdiff_t(some));
  const Index index = build(base, 9);
  const auto filters = manyFilters(kRows);
  for (const int64_t count : {1, 10, 1000}) {
    const auto queries = reference::randomVectors(of.element, count, kDims, 4);
    const BoundCaptures captures = bind(metric, kDims, count);
    for (const uint32_t probes : {2u, 9u})
      for (size_t f = 0; f <= filters.size() + 1; ++f) {
        if (count == 1000 && f % 3 != 1)
          continue;
        RadiusSearch search{*sharedBackend(), index, metric, captures, view(queries), {}};
        search.params.candidates = Lists{probes};
        search.params.family = of.family;
        if (f < filters.size())
          search.params.filter = filters[f];
        if (f > filters.size())
          search.params.predicate = predicateOf({bitmapOf(count, kRows, [](int64_t q, int64_t row) {
            return q % 5 != 0 && (q % 2 == 1 || row % 17 == 0);
          })});
        SCOPED_TRACE(std::to_string(count) + " queries, " + std::to_string(probes) +
                     " probes, filter " + std::to_string(f));
        checkRadii(search, EveryNeighbour(search, "pairs"));
        if (HasFailure())
          return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, CudaRadiusByHooks,
    testing::Values(Case{"staged_granules", "l1", ANNUDF_ELEMENT_F32, 80},
                    Case{"staged_granules", "inner_product", ANNUDF_ELEMENT_F16, 80},
                    Case{"packed_granules", "l2", ANNUDF_ELEMENT_U8, 80},
                    Case{"matrix", "weighted_l2"}, Case{"matrix", "inner_product"},
                    Case{"matrix", "cosine"}, Case{"matrix", "weighted_similarity"},
                    Case{"matrix", "personal_l2"}, Case{"matrix", "l2", ANNUDF_ELEMENT_U8},
                    Case{"matrix_mma", "l2", ANNUDF_ELEMENT_F32, 80},
                    Case{"matrix_mma", "personal_inner_product", ANNUDF_ELEMENT_F32, 80}),
    [](const auto &info) {
      return std::string(info.param.family) + "_" + info.param.metric + "_" +
             toString(info.param.element);
    });

/// Results of a query that are more than there is room for, and of several parts of a batch.
TEST(CudaRadiusSearch, FindsMoreThanFitsAtOnce) {
  REQUIRE_GPU("the radius search is");
  const Metric metric = unfusedMetric(testMetric("l2"));
  constexpr float kAll = std::numeric_limits<float>::infinity();
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 2, 2);
  const BoundCaptures captures = bind(metric, 2);
  for (const int64_t rows : {int64_t(5'000'000), int64_t(1'500'000)}) {
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, rows, 2, 1);
    const Index index = Index::ofOneList(view(base), false, 2);
    for (const char *family : {"pairs", "staged_granules"}) {
      if (family[0] == 's' && sharedBackend()->arch() < 80)
        continue;
      RadiusSearch search{*sharedBackend(), index, metric, captures, view(queries), {}};
      search.params.family = family;
      const WithinRadius found = search.run(kAll, 3 * rows);
      ASSERT_EQ(found.starts, (std::vector<int64_t>{0, rows, 2 * rows, 3 * rows})) << family;
      for (int64_t q = 0; q < 3; ++q) {
        const auto at = [&](auto &of, int64_t i) { return of.begin() + q * rows + i; };
        EXPECT_TRUE(std::is_sorted(at(found.distances, 0), at(found.distances, rows)));
        std::vector<int64_t> ids(at(found.ids, 0), at(found.ids, rows));
        std::sort(ids.begin(), ids.end());
        EXPECT_EQ(ids.front(), 0);
        EXPECT_EQ(ids.back(), rows - 1);
        EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
      }
      EXPECT_TRUE(search.refusal(kAll, 3 * rows - 1).starts_with("usage: max_results is"));
    }
  }
}

TEST(CudaRadiusSearch, EndsWhereItIsInterrupted) {
  REQUIRE_GPU("the radius search is");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 8, 1);
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 8);
  RadiusSearch search{*sharedBackend(), index, metric, captures, view(base), {}};
  search.params.progress = [](const char *, double) { return false; };
  EXPECT_TRUE(search.refusal(1).starts_with("other: "));
}

} // namespace
