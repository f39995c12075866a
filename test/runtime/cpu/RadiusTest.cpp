//===- RadiusTest.cpp - The CPU's radius search ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FilterTesting.h"
#include "../RadiusTesting.h"
#include "ProductsTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

Index indexOf(const reference::Vectors &base, uint32_t lists) {
  IndexParams params;
  params.nLists = lists, params.kmeansIterations = 3, params.threads = 2;
  return Index::build(params, view(base));
}

using Case = std::tuple<std::string, annudf_element>;
class RadiusOfMetric : public testing::TestWithParam<Case> {};

TEST_P(RadiusOfMetric, FindsWhatAWholeSearchHas) {
  const auto &[name, element] = GetParam();
  const Metric metric =
      compiled(name.starts_with("proved_") ? provedMetric(name) : testMetric(name));
  constexpr int64_t kRows = 700;
  constexpr int32_t kDims = 19;
  const auto base = reference::randomVectors(element, kRows, kDims, 3);
  const Index index = indexOf(base, 9);
  const BoundCaptures captures = bind(metric, kDims);
  const auto filters = manyFilters(kRows);
  const auto one = makeCpuBackend(1), three = makeCpuBackend(3);
  for (const int64_t count : {1, 10, 1000}) {
    const auto queries = reference::randomVectors(element, count, kDims, 4);
    for (const uint32_t probes : {1u, 4u, 9u})
      for (size_t f = 0; f <= filters.size(); ++f) {
        if (count == 1000 && f % 3 != 1)
          continue;
        RadiusSearch search{*three, index, metric, captures, view(queries), {}};
        search.params.candidates = Lists{probes};
        search.params.filter = f < filters.size() ? filters[f] : nullptr;
        const EveryNeighbour every(search, "groups");
        SCOPED_TRACE(std::to_string(count) + " queries, " + std::to_string(probes) +
                     " probes, filter " + std::to_string(f));
        checkRadii(search, every);
        search.params.family = "groups";
        checkRadii({*one, index, metric, captures, view(queries), search.params}, every);
        if (metric.artifact.manifest.form && element == ANNUDF_ELEMENT_F32) {
          search.params.family = "matrix";
          for (int again = 0; again < 2; ++again) // Rows are kept from the second one on.
            checkRadii(search, every);
        }
        if (HasFailure())
          return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, RadiusOfMetric,
                         testing::Values(Case{"l1", ANNUDF_ELEMENT_F32},
                                         Case{"l1", ANNUDF_ELEMENT_U8},
                                         Case{"inner_product", ANNUDF_ELEMENT_F16},
                                         Case{"hamming", ANNUDF_ELEMENT_U8},
                                         Case{"l2_f64", ANNUDF_ELEMENT_F32},
                                         Case{"proved_weighted_l2", ANNUDF_ELEMENT_F32},
                                         Case{"proved_weighted_l2", ANNUDF_ELEMENT_F16},
                                         Case{"proved_inner_product", ANNUDF_ELEMENT_F32},
                                         Case{"proved_cosine", ANNUDF_ELEMENT_F32},
                                         Case{"proved_similarity", ANNUDF_ELEMENT_F32}),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" + toString(std::get<1>(info.param));
                         });

/// Data that bounds know little of: NaN, infinities, ties, rows of zeros.
TEST(CpuRadius, ProductsOfHardData) {
  const auto backend = makeCpuBackend(2);
  int ran = 0;
  for (const TestMetric &test : provedMetrics()) {
    const Metric metric = compiled(test);
    for (const auto &[kind, make] : kKinds) {
      const Data base = dataOf(make, 600, 21, 1), queries = dataOf(make, 40, 21, 2);
      const Index index = indexOf(base, 6);
      const BoundCaptures captures = bind(metric, 21);
      RadiusSearch search{*backend, index, metric, captures, queries.view(), {}};
      search.params.candidates = Lists{3};
      const EveryNeighbour every(search, "groups");
      search.params.family = "matrix";
      SCOPED_TRACE(test.name + ", " + std::string(kind));
      try {
        for (int again = 0; again < 3; ++again, ++ran)
          checkRadii(search, every);
      } catch (const Error &error) { // Not every form of all data has bounds.
        EXPECT_NE(std::string(error.what()).find("family 'matrix' cannot run"), std::string::npos)
            << error.what();
      }
      if (HasFailure())
        return;
    }
  }
  EXPECT_GT(ran, 3 * int(provedMetrics().size()));
}

TEST(CpuRadius, CountsNaNAndLeavesItOut) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("cosine"));
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 8, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 7, 8, 2);
  std::memset(base.encoded.data() + 10 * 8 * sizeof(float), 0, 5 * 8 * sizeof(float));
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 8);
  const RadiusSearch search{*backend, index, metric, captures, view(queries), {}};
  SearchStats stats;
  const WithinRadius found = search.run(std::numeric_limits<float>::infinity(), 7 * 295, &stats);
  EXPECT_EQ(found.starts.back(), 7 * 295);
  EXPECT_EQ(stats.nanDistances, 7 * 5);
  EXPECT_EQ(stats.scored, 7 * 300);
  EXPECT_EQ(stats.family, "groups");
  checkRadii(search, EveryNeighbour(search));
}

/// -0 is at a radius of 0 and 0 at one of -0; results have 0.
TEST(CpuRadius, BothZerosAreOne) {
  const auto backend = makeCpuBackend(1);
  const Metric metric = compiled(testMetric("inner_product"));
  const auto base = reference::encode(ANNUDF_ELEMENT_F32, 1, {0, 1, -1, 0}),
             queries = reference::encode(ANNUDF_ELEMENT_F32, 1, {-1, 1});
  const Index index = Index::ofOneList(view(base), false, 1);
  const BoundCaptures captures = bind(metric, 1);
  const RadiusSearch search{*backend, index, metric, captures, view(queries), {}};
  for (const float radius : {0.0f, -0.0f}) {
    const WithinRadius expected{{0, 3, 6}, {2, 0, 3, 1, 0, 3}, {1, 0, 0, 1, 0, 0}};
    EXPECT_TRUE(areEqual(search.run(radius), expected));
  }
}

TEST(CpuRadius, RowsInPlaceEqualAList) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 24, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 30, 24, 2);
  const Index list = Index::ofOneList(view(base), false, 2);
  const Index inPlace = Index::overRows(view(base), false, 2, {});
  const BoundCaptures captures = bind(metric, 24);
  const RadiusSearch ofList{*backend, list, metric, captures, view(queries), {}};
  const EveryNeighbour every(ofList);
  checkRadii({*backend, inPlace, metric, captures, view(queries), {}}, every);
  // In pieces: each has some of the results, and the number allowed is that of all of them.
  const StorePiece store = [](const MatrixView &piece, int64_t first, const Progress &progress) {
    return std::make_unique<const Index>(
        Index::ofOneList(piece, false, 2, {nullptr, first}, progress));
  };
  for (const float radius : every.radii()) {
    const WithinRadius expected = every.within(radius);
    const int64_t most = expected.starts.back();
    SearchStats stats;
    std::vector<double> told;
    const SearchParams params = {.progress = [&](const char *, double done) {
      told.push_back(done);
      return true;
    }};
    EXPECT_TRUE(areEqual(searchRadiusInRows(*backend, view(base), store, {20000}, metric, captures,
                                            view(queries), radius, most, params, &stats),
                         expected));
    EXPECT_EQ(stats.scored, 30 * 3000);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1);
    if (most == 0)
      continue;
    try {
      (void)searchRadiusInRows(*backend, view(base), store, {20000}, metric, captures,
                               view(queries), radius, most - 1, {});
      ADD_FAILURE() << "one more than allowed";
    } catch (const TooManyResults &error) {
      EXPECT_GE(error.found, most);
      EXPECT_TRUE(std::string(error.what())
                      .starts_with("max_results is " + std::to_string(most - 1) + ", "))
          << error.what();
    }
  }
}

/// A batch has some thousands of queries, so these are several.
TEST(CpuRadius, BatchesAreOneSearch) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_U8, 50, 3, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_U8, 20000, 3, 2);
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 3);
  const RadiusSearch search{*backend, index, metric, captures, view(queries), {}};
  checkRadii(search, EveryNeighbour(search));
}

TEST(CpuRadius, StopsSoonWhereResultsAreTooMany) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 40000, 16, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 16, 2);
  const Index index = indexOf(base, 40);
  const BoundCaptures captures = bind(metric, 16);
  RadiusSearch search{*backend, index, metric, captures, view(queries), {}};
  search.params.candidates = Lists{40};
  try {
    (void)search.run(std::numeric_limits<float>::infinity(), 1000);
    FAIL() << "more than allowed";
  } catch (const TooManyResults &error) {
    EXPECT_GT(error.found, 1000);
    EXPECT_LT(error.found, 300 * 40000 / 10); // What threads had begun.
    EXPECT_EQ(error.fault().argument, "max_results");
  }
  search.params.progress = [](const char *, double) { return false; };
  EXPECT_THROW((void)search.run(1), Error);
}

TEST(CpuRadius, Refuses) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 100, 4, 1);
  const Index index = Index::ofOneList(view(base), false, 2);
  const BoundCaptures captures = bind(metric, 4);
  RadiusSearch search{*backend, index, metric, captures, view(base), {}};
  EXPECT_EQ(search.refusal(NAN),
            "usage: radius is nan, it must be a number that distances can be compared with");
  search.queries.rows = 0;
  EXPECT_EQ(search.refusal(1), "other: queries: there are 0 rows; give at least one");
  search.queries.rows = 100;
  EXPECT_EQ(search.refusal(-1, 0), "ok");
  EXPECT_EQ(checkMostResults(0), ANNUDF_DEFAULT_MAX_RESULTS);
  EXPECT_EQ(checkMostResults(7), 7);
  try {
    (void)checkMostResults(-1);
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "max_results is -1, it must be an integer from 0 to 1099511627776, "
                               "0 for the default");
  }
}

} // namespace
