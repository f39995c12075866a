//===- AbandonTest.cpp - Rows that are left change no bit -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/search/Abandon.h"
#include "MatrixTesting.h"

#include "annudf/runtime/engine/Filter.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// What a search finds, and how much of its rows it computed.
struct Outcome {
  FoundBits found;
  double share;
};

Outcome run(Backend &backend, const Index &index, const Metric &metric,
            const BoundCaptures &captures, const MatrixView &queries, int k, SearchParams params) {
  Outcome outcome{{std::vector<int64_t>(size_t(queries.rows * k)),
                   std::vector<float>(size_t(queries.rows * k))},
                  0};
  params.family = "groups", params.timeStages = true;
  SearchStats stats;
  backend.search(index, metric, captures, queries, k, params, outcome.found.ids.data(),
                 outcome.found.distances.data(), &stats);
  outcome.share = stats.evaluatedPerQuery / stats.rowsPerQuery;
  return outcome;
}

/// The same with and without leaving rows. \return the share that was computed.
double compare(Backend &backend, const Index &index, const Metric &metric,
               const BoundCaptures &captures, const MatrixView &queries, int k,
               const SearchParams &params, const std::string &what) {
  const Outcome left = [&] {
    const With all("ANNUDF_ABANDON", "all"); // Sums, too.
    return run(backend, index, metric, captures, queries, k, params);
  }();
  const With none("ANNUDF_ABANDON", "0");
  const Outcome whole = run(backend, index, metric, captures, queries, k, params);
  EXPECT_EQ(left.found, whole.found) << what;
  EXPECT_EQ(whole.share, 1) << what;
  return left.share;
}

class Abandoned : public ::testing::TestWithParam<std::string> {};

TEST_P(Abandoned, GivesTheBitsOfWholeRows) {
  const Metric metric = compiled(testMetric(GetParam()));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const int32_t dims : {1, 3, 16, 33, 96, 128, 257, 1024})
    for (const auto &[name, kind] : kKinds) {
      const Data base = dataOf(kind, 600, dims, uint32_t(dims));
      const Data queries = dataOf(kind, 45, dims, 99);
      const Index index = indexOf(base, 5);
      for (const int k : {1, 10, 100, 600})
        for (const uint32_t probes : {2u, 5u})
          compare(*backend, index, metric, bind(metric, dims), queries.view(), k,
                  {.candidates = Lists{probes}},
                  std::string(name) + ", " + std::to_string(dims) + " dims, k " +
                      std::to_string(k));
    }
}

/// Rows near to a query and far from it, so that most are left.
double scaleOf(int64_t row) { return row % 8 == 0 ? 1 : 6; }

TEST_P(Abandoned, OfEachElementWithAFilter) {
  const TestMetric &test = testMetric(GetParam());
  const Metric metric = compiled(test);
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  std::mt19937 random(3);
  std::vector<uint32_t> words(75);
  for (uint32_t &word : words)
    word = random() | random();
  const auto filter = std::make_shared<RowFilter>(words, 2400);
  for (const annudf_element element : test.elements) {
    double least = 1;
    for (const int32_t dims : {40, 96, 264}) {
      std::vector<double> values(size_t(2400) * dims), asked(size_t(13) * dims);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = (double(random() % 21) - 10) * scaleOf(int64_t(i) / dims / 32) + 64;
      for (double &value : asked)
        value = double(random() % 21) + 54;
      const auto base = reference::encode(element, dims, values);
      const auto queries = reference::encode(element, dims, asked);
      IndexParams params;
      params.nLists = 3, params.threads = 2;
      const Index index = Index::build(params, view(base));
      for (const int k : {1, 10, 300})
        for (const bool filters : {false, true})
          least = std::min(least,
                           compare(*backend, index, metric, bind(metric, dims), view(queries), k,
                                   {.candidates = Lists{3}, .filter = filters ? filter : nullptr},
                                   toString(element)));
    }
    if (element != ANNUDF_ELEMENT_BITS) // There is no row much farther than others.
      EXPECT_LT(least, 0.9) << toString(element);
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, Abandoned,
                         ::testing::Values("l1", "chebyshev", "weighted_l2", "l2_f64",
                                           "asymmetric"),
                         [](const auto &info) { return info.param; });

/// What the proof asks of weights is not there: rows are computed as a whole. NaN meets it.
TEST(Abandon, WeightsBelowZeroMakeItWhole) {
  const Metric metric = compiled(testMetric("weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const int32_t dims = 96;
  Data base = dataOf(kKinds[0].second, 4000, dims, 1);
  for (size_t i = 0; i < base.values.size(); ++i)
    base.values[i] *= i / dims / 32 % 4 ? 10 : 1; // Whole groups.
  const Data queries = dataOf(kKinds[0].second, 20, dims, 2);
  const Index index = indexOf(base, 1);
  std::vector<float> w(dims, 1);
  const auto share = [&](const char *what) {
    const BoundCaptures captures =
        BoundCaptures::bindViews(metric.artifact.manifest, dims,
                                 {{"w", runtime::test::given("f32", {dims}, w.data(), w.size())}},
                                 /*allowNonFinite=*/true);
    return compare(*backend, index, metric, captures, queries.view(), 5, {.candidates = Lists{1}},
                   what);
  };
  EXPECT_LT(share("ones"), 0.9);
  w.assign(dims, 0);
  share("zeros");
  w.assign(dims, -0.0f);
  w[3] = 1;
  share("zeros below");
  w.assign(dims, 1);
  w[95] = -1;
  EXPECT_EQ(share("the last below 0"), 1);
  w.assign(dims, -1);
  EXPECT_EQ(share("all below 0"), 1);
  w.assign(dims, 1);
  w[40] = std::numeric_limits<float>::infinity();
  share("infinite");
  w[40] = std::numeric_limits<float>::quiet_NaN();
  share("no number");
}

/// Rows of which an accumulator becomes infinite, or no number, on the way.
TEST(Abandon, InfinitiesThatArise) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  for (const char *name : {"weighted_l2", "l1", "asymmetric"}) {
    const Metric metric = compiled(testMetric(name));
    const int32_t dims = 80;
    Data base = dataOf(kKinds[0].second, 2000, dims, 5),
         queries = dataOf(kKinds[0].second, 9, dims, 6);
    for (size_t i = 0; i < base.values.size(); i += 97)
      base.values[i] *= 3e38f / 8;
    const Index index = indexOf(base, 2);
    for (const int k : {3, 1999, 2000})
      compare(*backend, index, metric, bind(metric, dims), queries.view(), k,
              {.candidates = Lists{2}}, name);
  }
}

/// All distances are asked for: no row may be left.
TEST(Abandon, NotWhereAllDistancesAreWanted) {
  const Metric metric = compiled(testMetric("l1"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 300, 64, 1),
             queries = dataOf(kKinds[0].second, 7, 64, 2);
  const Index index = indexOf(base, 2);
  const auto all = [&] {
    std::vector<float> distances(7 * 300);
    backend->distances(index, metric, bind(metric, 64), queries.view(), {}, distances.data(),
                       nullptr, 0);
    return FoundBits{{}, distances};
  };
  const FoundBits found = [&] {
    const With sums("ANNUDF_ABANDON", "all");
    return all();
  }();
  const With none("ANNUDF_ABANDON", "0");
  EXPECT_EQ(found, all());
}

TEST(Abandon, IsOfExtremesUnlessAllAreAskedFor) {
  const auto may = [](const char *metric) {
    return cpu::mayAbandon(artifactOf(testMetric(metric), "").manifest);
  };
  EXPECT_TRUE(may("chebyshev"));
  EXPECT_FALSE(may("l1"));
  EXPECT_FALSE(may("inner_product"));
  {
    const With all("ANNUDF_ABANDON", "all");
    EXPECT_TRUE(may("chebyshev"));
    EXPECT_TRUE(may("l1"));
    EXPECT_FALSE(may("inner_product"));
  }
  const With none("ANNUDF_ABANDON", "0");
  EXPECT_FALSE(may("chebyshev"));
}

TEST(Abandon, TellsFromTasksThatAreTimed) {
  using cpu::Abandon;
  Abandon abandon(true, 128, ANNUDF_ELEMENT_F32);
  EXPECT_EQ(abandon.blockOf(0, 256), 0); // Limits are far away.
  EXPECT_EQ(abandon.blockOf(15, 256), 0);
  for (int64_t timed = 16; timed < 32; timed += 2) {
    EXPECT_EQ(abandon.blockOf(timed, 256), 16);
    EXPECT_EQ(abandon.blockOf(timed + 1, 256), 0);
  }
  for (const int64_t after : {32, 33, 255})
    EXPECT_EQ(abandon.blockOf(after, 256), 16); // Nothing is known yet.
  for (const int64_t task : {13, 14, 15, 238})
    EXPECT_EQ(abandon.blockOf(task, 239), task < 14 ? 0 : 16); // Too few to be timed.

  EXPECT_EQ(Abandon(false, 128, ANNUDF_ELEMENT_F32).blockOf(255, 256), 0);
  EXPECT_EQ(Abandon(true, 16, ANNUDF_ELEMENT_F32).blockOf(255, 256), 0);   // None would be left.
  EXPECT_EQ(Abandon(true, 64, ANNUDF_ELEMENT_BITS).blockOf(255, 256), 32); // A whole word.
}

TEST(Abandon, IsLeftToWhatTookLess) {
  using cpu::Abandon;
  // The median of each kind: what stopped a thread for a while says nothing.
  const auto after = [](double with, double without, size_t samples) {
    Abandon abandon(true, 128, ANNUDF_ELEMENT_F32);
    for (size_t i = 0; i < samples; ++i) {
      abandon.add(true, i == 1 ? 100 : with);
      abandon.add(false, i == 2 ? 100 : without);
    }
    return abandon.blockOf(200, 256);
  };
  EXPECT_EQ(after(1, 1.2, 8), 16);
  EXPECT_EQ(after(1, 1.15, 8), 0); // What follows gains less.
  EXPECT_EQ(after(1.1, 1, 8), 0);
  EXPECT_EQ(after(1.1, 1, 7), 16); // They are not enough.
}

/// Rows that fill the last group of a list, or that a filter leaves out, are none of the list's.
TEST(Abandon, CountsRowsOfListsAlone) {
  const Metric metric = compiled(testMetric("chebyshev"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(1);
  const int64_t rows = 320;
  const int32_t dims = 256;
  Data base = dataOf(kKinds[0].second, rows, dims, 1);
  for (int64_t i = 0; i < rows * dims; ++i) // In lists of some five rows.
    base.values[size_t(i)] = base.values[size_t(i)] / 4 + float(i / dims % 64);
  const Data queries = dataOf(kKinds[0].second, 20, dims, 2);
  const Index index = indexOf(base, 64);
  const auto even =
      std::make_shared<RowFilter>(std::vector<uint32_t>(size_t(rows) / 32, 0x55555555u), rows);
  for (const auto &filter : {std::shared_ptr<RowFilter>(), even}) {
    const double share = compare(*backend, index, metric, bind(metric, dims), queries.view(), 2,
                                 {.candidates = Lists{64}, .filter = filter}, "small lists");
    // A block of 16 dims of all, and more of what the first lists hold.
    EXPECT_GE(share, 16.0 / dims);
    EXPECT_LT(share, 0.7);
  }
}

TEST(Abandon, CountsWhatWasLeft) {
  using cpu::Abandon;
  Abandon abandon(true, 128, ANNUDF_ELEMENT_F32);
  for (const int64_t left : {5, 7}) {
    Abandon::Task task(&abandon, 10, 20);
    EXPECT_EQ(task.block(), 16);
    task.left = left;
    task.done(1);
  }
  EXPECT_EQ(abandon.left(), 12);
}

} // namespace
