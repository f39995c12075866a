//===- SearchRowsTest.cpp - Exact search, a piece of the rows at a time ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FilterTesting.h"

#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/ivf_flat/Index.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// How a search of rows is called, and how often it stored a piece.
struct Rows {
  Backend &backend;
  const Metric &metric;
  const reference::Vectors &base, &queries;
  RowPieces pieces = {};
  SearchParams params = {};
  int64_t most = INT64_MAX; ///< Rows that there is memory for.
  int64_t stored = 0;
  SearchStats stats = {};

  Found search(int k) {
    Found found;
    found.ids.assign(size_t(queries.rows) * k, -777);
    found.distances.assign(size_t(queries.rows) * k, -777);
    const StorePiece store = [&](const MatrixView &piece, int64_t first, const Progress &progress) {
      if (piece.rows > most)
        throw Error(ErrorKind::Environment, "no room for " + std::to_string(piece.rows) + " rows");
      ++stored;
      return std::make_unique<const Index>(
          Index::ofOneList(piece, false, 2, {nullptr, first}, progress));
    };
    searchRows(backend, view(base), store, pieces, metric, bind(metric, base.dims), view(queries),
               k, params, found.ids.data(), found.distances.data(), &stats);
    return found;
  }
};

TEST(SearchRows, PiecesEqualOneList) {
  const auto backend = makeCpuBackend(2);
  std::vector<TestMetric> metrics = provedMetrics();
  metrics.push_back(testMetric("l1")), metrics.push_back(testMetric("inner_product"));
  for (const TestMetric &test : metrics)
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      for (const int64_t asked : {1, 7, 40}) {
        const Metric metric = compiled(test);
        const auto base = reference::randomVectors(element, 3000, 24, 1),
                   queries = reference::randomVectors(element, asked, 24, 2);
        const Index index = Index::ofOneList(view(base), false, 2);
        Rows rows{*backend, metric, base, queries};
        for (const uint64_t bytes : {uint64_t(5000), uint64_t(30000)})
          for (const int k : {1, 10, 200}) {
            SCOPED_TRACE(test.name + ", k " + std::to_string(k));
            rows.pieces.bytes = bytes, rows.stored = 0;
            const Found expected = searchFiltered(*backend, index, metric, queries, k, 1, nullptr);
            const Found found = rows.search(k);
            EXPECT_EQ(found.ids, expected.ids);
            EXPECT_EQ(found.distances, expected.distances);
            EXPECT_EQ(rows.stats.scored, asked * 3000);
            if (k == 1) {
              EXPECT_GT(rows.stored, 1);
            }
          }
      }
}

/// Rows keep their numbers in whatever piece they are.
TEST(SearchRows, FiltersAndSmallPieces) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 1000, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 9, 2);
  const Index index = Index::ofOneList(view(base), false, 2);
  for (const auto &filter : manyFilters(1000)) {
    Rows rows{*backend, metric, base, queries};
    rows.pieces.bytes = 1, rows.params.filter = filter; // As few as k rows.
    const Found expected = searchFiltered(*backend, index, metric, queries, 40, 1, filter);
    const Found found = rows.search(40);
    EXPECT_EQ(rows.stored, 25);
    EXPECT_EQ(found.ids, expected.ids);
    EXPECT_EQ(found.distances, expected.distances);
    EXPECT_EQ(rows.stats.passingShare, filter->passingShare(1000));
  }
}

TEST(SearchRows, APieceThatHasNoRoomIsHalved) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 4000, 25, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 2, 25, 2);
  const Index index = Index::ofOneList(view(base), false, 2);
  const Found expected = searchFiltered(*backend, index, metric, queries, 10, 1, nullptr);
  Rows rows{*backend, metric, base, queries};
  rows.most = 1000;
  EXPECT_THROW((void)rows.search(10), Error);
  rows.pieces.halvedTo = 50000;
  const Found found = rows.search(10);
  EXPECT_EQ(rows.stored, 4);
  EXPECT_EQ(found.ids, expected.ids);
  EXPECT_EQ(found.distances, expected.distances);
  rows.most = 400; // Less than it is halved to.
  EXPECT_THROW((void)rows.search(10), Error);
}

TEST(SearchRows, ResultsLargerThanTheRowsAreNotHeldTwice) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 1000, 4, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 900, 4, 2);
  Rows rows{*backend, metric, base, queries};
  rows.pieces.bytes = 1000;
  (void)rows.search(10);
  EXPECT_EQ(rows.stored, 1);
}

TEST(SearchRows, TellsOfOneSearchAndStops) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 2000, 16, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 16, 2);
  Rows rows{*backend, metric, base, queries};
  rows.pieces.bytes = 20000;
  std::vector<double> told;
  rows.params.progress = [&](const char *stage, double done) {
    EXPECT_STREQ(stage, "search");
    told.push_back(done);
    return true;
  };
  (void)rows.search(3);
  ASSERT_GT(rows.stored, 2);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(std::count(told.begin(), told.end(), 1.0), 1);
  rows.params.progress = [&](const char *, double done) { return done < 0.5; };
  try {
    (void)rows.search(3);
    FAIL() << "it was not stopped";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Interrupted);
  }
}

TEST(SearchRows, Refuses) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 100, 4, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 4, 2);
  Rows rows{*backend, metric, base, queries};
  rows.pieces.bytes = 100;
  const auto refused = [&](int k) {
    try {
      (void)rows.search(k);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(101), "k is 101, but the index has 100 rows");
  const float nan = NAN;
  std::memcpy(base.encoded.data() + (90 * 4 + 2) * sizeof nan, &nan, sizeof nan);
  EXPECT_EQ(refused(1), "base: row 90, dim 2 is nan; every coordinate must be finite unless index "
                        "and metric say missing_values");
}

} // namespace
