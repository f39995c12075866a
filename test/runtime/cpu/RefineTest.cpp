//===- RefineTest.cpp - Candidates ranked again on a CPU ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../RefineTesting.h"

#include "annudf/runtime/ivf_flat/Index.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kRows = 700;

TEST(CpuRefine, EqualsAnExactSearchOfTheCandidates) {
  const auto backend = makeCpuBackend(2);
  for (const TestMetric &test : testMetrics())
    for (const annudf_element element : test.elements) {
      const Metric metric = compiled(test);
      const auto base = reference::randomVectors(element, kRows, 24, 1);
      const Index index = Index::ofOneList(view(base), false, 2);
      for (const int64_t asked : {1, 10, 1000}) {
        if (asked == 1000 && element != test.elements.front())
          continue; // As many as that are cut into batches, whatever they are of.
        const auto queries = reference::randomVectors(element, asked, 24, 2);
        for (const int64_t columns : {1, 33, 200}) {
          const auto candidates = someCandidates(asked, columns, kRows);
          for (const int k : {1, 10, 200}) {
            if (k > columns)
              continue;
            SCOPED_TRACE(test.name + " " + toString(element) + ", " + std::to_string(asked) +
                         " queries, " + std::to_string(columns) + " columns, k " +
                         std::to_string(k));
            Refinement refinement{*backend, metric, base, queries, candidates};
            const Found found = refinement.search(k);
            expectRestricted(*backend, index, metric, queries, candidates, k, found);
            if (asked < 1000)
              expectReference(test, base, queries, candidates, k, found);
          }
        }
      }
    }
}

/// By products of matrices, where the planner or the caller chooses them.
TEST(CpuRefine, EqualsAnExactSearchByMatrixProducts) {
  const auto backend = makeCpuBackend(2);
  if (backend->machine().productCost == 0)
    GTEST_SKIP() << "this processor multiplies no matrices: products NOT checked";
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 32, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, 32, 2);
  const Index index = Index::ofOneList(view(base), false, 2);
  const auto candidates = someCandidates(40, 300, kRows);
  int checked = 0;
  for (const TestMetric &test : provedMetrics()) {
    if (test.form->lengths)
      continue;
    ++checked;
    SCOPED_TRACE(test.name);
    const Metric metric = compiled(test);
    Refinement refinement{*backend, metric, base, queries, candidates};
    refinement.params.family = "matrix";
    const Found found = refinement.search(10);
    EXPECT_EQ(refinement.stats.family, "matrix");
    expectRestricted(*backend, index, metric, queries, candidates, 10, found);
  }
  EXPECT_EQ(checked, 3);
}

TEST(CpuRefine, PiecesEqualOneSearch) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 101, 9, 2);
  const auto candidates = someCandidates(101, 40, kRows);
  Refinement refinement{*backend, metric, base, queries, candidates};
  refinement.params.timeStages = true;
  const Found whole = refinement.search(7);
  EXPECT_EQ(refinement.pieces, 1);
  const SearchStats of = refinement.stats;
  EXPECT_EQ(of.family, "groups");
  for (const int64_t pieces : {2, 3, 101}) {
    refinement.bytesOfPiece = bytesOfCandidates(view(base), 40) * ((101 + pieces - 1) / pieces);
    const Found found = refinement.search(7);
    EXPECT_EQ(refinement.pieces, pieces);
    EXPECT_EQ(found.ids, whole.ids);
    EXPECT_EQ(found.distances, whole.distances);
    EXPECT_EQ(refinement.stats.scored, of.scored);
    EXPECT_NEAR(refinement.stats.rowsPerQuery, of.rowsPerQuery, 1e-9);
    EXPECT_NEAR(refinement.stats.evaluatedPerQuery, of.evaluatedPerQuery, 1e-9);
  }
  EXPECT_NEAR(double(of.scored), of.rowsPerQuery * 101, 1e-6);
}

TEST(CpuRefine, AFilterLeavesCandidatesOut) {
  const auto backend = makeCpuBackend(2);
  const TestMetric &test = testMetric("inner_product");
  const Metric metric = compiled(test);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 12, 9, 2);
  const Index index = Index::ofOneList(view(base), false, 2);
  const auto candidates = someCandidates(12, 40, kRows);
  for (const auto &filter : manyFilters(kRows)) {
    Refinement refinement{*backend, metric, base, queries, candidates};
    refinement.params.filter = filter;
    const Found found = refinement.search(9);
    std::vector<int64_t> passing = candidates;
    for (int64_t &id : passing)
      id = id >= 0 && filter->passes(id) ? id : -1;
    expectRestricted(*backend, index, metric, queries, passing, 9, found);
  }
}

TEST(CpuRefine, QueriesWithoutCandidatesFindNothing) {
  const auto backend = makeCpuBackend(2);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 4, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 2, 4, 2);
  const std::vector<int64_t> none(10, -1), few = {2, -1, 2, 0, 1, -1, -1, -1, -1, -1};
  for (const char *name : {"l2", "inner_product"}) {
    const TestMetric &test = testMetric(name);
    const Metric metric = compiled(test);
    const float worst = test.order == ANNUDF_ORDER_MIN ? INFINITY : -INFINITY;
    const Found nothing = Refinement{*backend, metric, base, queries, none}.search(5);
    EXPECT_EQ(nothing.ids, std::vector<int64_t>(10, -1));
    EXPECT_EQ(nothing.distances, std::vector<float>(10, worst));
    // More columns than the data set has rows.
    const Found some = Refinement{*backend, metric, base, queries, few}.search(5);
    expectReference(test, base, queries, few, 5, some);
  }
}

TEST(CpuRefine, TellsOfOneSearchAndStops) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 16, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 16, 2);
  const auto candidates = someCandidates(50, 40, kRows);
  Refinement refinement{*backend, metric, base, queries, candidates};
  refinement.bytesOfPiece = bytesOfCandidates(view(base), 40) * 8;
  std::vector<double> told;
  refinement.params.progress = [&](const char *stage, double done) {
    EXPECT_STREQ(stage, "search");
    told.push_back(done);
    return true;
  };
  (void)refinement.search(3);
  ASSERT_GT(refinement.pieces, 2);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(std::count(told.begin(), told.end(), 1.0), 1);
  refinement.params.progress = [&](const char *, double done) { return done < 0.5; };
  try {
    (void)refinement.search(3);
    FAIL() << "it was not stopped";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Interrupted);
  }
}

TEST(CpuRefine, Refuses) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 100, 4, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 4, 2);
  std::vector<int64_t> candidates(15, 3);
  const auto refused = [&](int k) {
    try {
      (void)Refinement{*backend, metric, base, queries, candidates}.search(k);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(3), "");
  EXPECT_EQ(refused(4), "k is 4, but a query has 3 candidates; ask for fewer, or give more");
  EXPECT_EQ(refused(0), "k is 0, it must be an integer from 1 to 1073741824");
  candidates[7] = 100;
  EXPECT_EQ(refused(3), "candidates[2, 1] is 100, the dataset has 100 rows; give -1 to 99, where "
                        "-1 is none");
  candidates[6] = -2;
  EXPECT_EQ(refused(3), "candidates[2, 0] is -2, the dataset has 100 rows; give -1 to 99, where -1 "
                        "is none");
  // Rows that are no candidates are not looked at.
  candidates[6] = 0, candidates[7] = 0;
  const float nan = NAN;
  std::memcpy(base.encoded.data() + (90 * 4 + 2) * sizeof nan, &nan, sizeof nan);
  EXPECT_EQ(refused(3), "");
  candidates[11] = 90;
  EXPECT_EQ(refused(3), "dataset: row 90, dim 2 is nan; every coordinate must be finite unless "
                        "index and metric say missing_values");
}

} // namespace
