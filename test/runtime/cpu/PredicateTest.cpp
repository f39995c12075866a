//===- PredicateTest.cpp - Filters that see the query, on the CPU ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search with a predicate gives what the search without one gives when all that it scans is asked
// for and what the query may not find is struck out, to the bit.
//
//===----------------------------------------------------------------------===//

#include "../PredicateTesting.h"

#include "annudf/runtime/engine/FilterCode.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

using Join = Predicate::Join;

/// A predicate, and what it lets pass.
struct Case {
  std::string name;
  std::shared_ptr<const Predicate> predicate;
  Passes passes;
};

std::shared_ptr<const Metric> tenantFilter() {
  static const auto filter = std::make_shared<const Metric>(
      Metric::fromArtifact(sameTenant(readBitcode("same_tenant")), "same_tenant.annudf"));
  return filter;
}

/// \param tenant  null: a column.
Predicate::Code codeFor(const Index &index, const std::vector<int32_t> *tenant,
                        const std::vector<int32_t> &mine) {
  return codeOf(tenantFilter(), {index.dims(), index.rowExtent(), int64_t(mine.size())}, tenant,
                mine, columnTypes(index));
}

/// Rows and their tenants, of which each query sees one.
struct Tenants {
  std::vector<int32_t> tenant, mine;
  /// \param oneIn  how many tenants there are; 0: no row is of a query's; -1: one is of each.
  Tenants(int64_t rows, int64_t queries, int oneIn) {
    std::mt19937 random(11);
    const auto others = static_cast<uint32_t>(std::max(oneIn, 1));
    for (int64_t row = 0; row < rows; ++row)
      tenant.push_back(oneIn == -1 ? int32_t(row) : int32_t(random() % others));
    for (int64_t q = 0; q < queries; ++q)
      mine.push_back(oneIn == 0    ? -1
                     : oneIn == -1 ? int32_t(random() % uint32_t(rows))
                                   : int32_t(random() % others));
  }
  bool pass(int64_t q, int64_t id) const { return tenant[size_t(id)] == mine[size_t(q)]; }
};

std::vector<Case> casesOf(const Index &index, int64_t queries, const Tenants &of) {
  const int64_t rows = index.rowExtent();
  const Passes code = [&](int64_t q, int64_t id) { return of.pass(q, id); };
  const Passes bit = [](int64_t q, int64_t id) { return (q * 7 + id * 13) % 5 < 2; };
  const auto third = [](int64_t id) { return id % 3 == 0; };
  const Predicate::Step ofCode = codeFor(index, &of.tenant, of.mine),
                        ofBits = bitmapOf(queries, rows + 3, bit),
                        ofRows = filterOf(rows + 3, third);
  return {{"code", predicateOf({ofCode}), code},
          {"bitmap", predicateOf({ofBits}), bit},
          {"code & rows", predicateOf({ofCode, ofRows, Join::And}),
           [=](int64_t q, int64_t id) { return code(q, id) && third(id); }},
          {"~code", predicateOf({ofCode, Join::Not}),
           [=](int64_t q, int64_t id) { return !code(q, id); }},
          {"code | bitmap", predicateOf({ofCode, ofBits, Join::Or}),
           [=](int64_t q, int64_t id) { return code(q, id) || bit(q, id); }},
          {"rows | ~(bitmap & code)",
           predicateOf({ofRows, ofBits, ofCode, Join::And, Join::Not, Join::Or}),
           [=](int64_t q, int64_t id) { return third(id) || !(bit(q, id) && code(q, id)); }}};
}

Found searchBy(Backend &backend, const RowStore &index, const Metric &metric,
               const reference::Vectors &queries, int k, SearchParams params,
               SearchStats *stats = nullptr) {
  Found found; // Poisoned, so that an entry nobody wrote is seen.
  found.ids.assign(size_t(queries.rows) * size_t(k), -777);
  found.distances.assign(found.ids.size(), -777);
  backend.search(index, metric, bind(metric, queries.dims), view(queries), k, params,
                 found.ids.data(), found.distances.data(), stats);
  return found;
}

/// \param all   what a search without a predicate found, of all rows that it scans.
void check(const Found &got, const Found &all, int64_t queries, int k, const Case &one,
           float worst) {
  const int64_t most = int64_t(all.ids.size()) / queries;
  for (int64_t q = 0; q < queries; ++q) {
    int64_t from = q * most;
    for (int i = 0; i < k; ++i, ++from) {
      while (from < (q + 1) * most && all.ids[size_t(from)] >= 0 &&
             !one.passes(q, all.ids[size_t(from)]))
        ++from;
      const bool isLeft = from < (q + 1) * most;
      const auto at = size_t(q * k + i);
      ASSERT_EQ(got.ids[at], isLeft ? all.ids[size_t(from)] : -1)
          << one.name << ", k " << k << ", query " << q << ", rank " << i;
      ASSERT_EQ(got.distances[at], isLeft ? all.distances[size_t(from)] : worst)
          << one.name << ", id " << got.ids[at];
    }
  }
}

Index indexOf(const reference::Vectors &base, uint32_t lists) {
  IndexParams build;
  build.nLists = lists, build.kmeansIterations = 3, build.threads = 2;
  return Index::build(build, view(base));
}

std::vector<TestMetric> metricsOf() {
  std::vector<TestMetric> metrics = {testMetric("l1"), testMetric("inner_product")};
  for (const TestMetric &metric : provedMetrics())
    if (metric.name == "proved_weighted_l2" || metric.name == "proved_cosine" ||
        metric.name == "proved_inner_product")
      metrics.push_back(metric);
  return metrics;
}

/// Every kind and selectivity, by every family that runs the metric.
void checkCells(Backend &backend, const TestMetric &test, annudf_element element) {
  constexpr int64_t kRows = 700; // 22 groups, the last of each list with rows that are none.
  constexpr int32_t kDims = 19;
  const Metric metric = compiled(test);
  const auto base = reference::randomVectors(element, kRows, kDims, 7);
  const Index index = indexOf(base, 5);
  const float worst = test.order == ANNUDF_ORDER_MIN ? INFINITY : -INFINITY;
  std::vector<std::string> families = {"groups"};
  if (test.form && element == ANNUDF_ELEMENT_F32 && backend.machine().productCost != 0)
    families.emplace_back("matrix");
  for (const int64_t count : {1, 10, 1000}) {
    const auto queries = reference::randomVectors(element, count, kDims, 8);
    for (const uint32_t probes : {5u, 2u}) {
      const Found all = searchFiltered(backend, index, metric, queries, kRows, probes, nullptr);
      for (const int oneIn : {0, -1, 100, 2, 1}) {
        const Tenants of(kRows, count, oneIn);
        for (const Case &one : casesOf(index, count, of))
          for (const std::string &family : families)
            for (const int k : {1, 10, 100}) {
              if (count == 1000 && k != 10)
                continue;
              SCOPED_TRACE(test.name + " " + toString(element) + ", " + family + ", queries " +
                           std::to_string(count) + ", probes " + std::to_string(probes) +
                           ", one in " + std::to_string(oneIn));
              const Found got = searchBy(
                  backend, index, metric, queries, k,
                  {.candidates = Lists{probes}, .predicate = one.predicate, .family = family});
              ASSERT_NO_FATAL_FAILURE(check(got, all, count, k, one, worst));
            }
      }
    }
  }
}

TEST(CpuPredicate, EqualsTheSearchWithoutOneStruckOut) {
  const auto backend = makeCpuBackend(2);
  for (const TestMetric &test : metricsOf())
    for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_U8})
      ASSERT_NO_FATAL_FAILURE(checkCells(*backend, test, element));
}

/// Beside a filter of rows, and counted.
TEST(CpuPredicate, CountsThePairsThatPass) {
  constexpr int64_t kRows = 500, kQueries = 9;
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 8, 7),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, 8, 8);
  const Index index = indexOf(base, 4);
  const Tenants of(kRows, kQueries, 3);
  const auto filter = filterOf(kRows, [](int64_t id) { return id % 4 != 0; });
  const Passes passes = [&](int64_t q, int64_t id) { return of.pass(q, id) && id % 4 != 0; };
  int64_t passing = 0;
  for (int64_t q = 0; q < kQueries; ++q)
    for (int64_t id = 0; id < kRows; ++id)
      passing += passes(q, id);
  SearchStats stats;
  const auto predicate = predicateOf({codeFor(index, &of.tenant, of.mine)});
  const Found got =
      searchBy(*backend, index, metric, queries, 20,
               {.candidates = Lists{4}, .filter = filter, .predicate = predicate}, &stats);
  const Found all = searchFiltered(*backend, index, metric, queries, kRows, 4, nullptr);
  check(got, all, kQueries, 20, {"code beside rows", predicate, passes}, INFINITY);
  EXPECT_EQ(stats.scored, passing);
  EXPECT_DOUBLE_EQ(stats.passingShare, double(passing) / double(kRows * kQueries));
  EXPECT_EQ(stats.links, 2); // The metric, and the filter, which no other metric links again.
  (void)searchBy(*backend, index, compiled(testMetric("l2")), queries, 20,
                 {.candidates = Lists{4}, .predicate = predicate}, &stats);
  EXPECT_EQ(stats.links, 1);
}

/// Distances of rows that the query may not find are nobody's.
TEST(CpuPredicate, RowsThatDoNotPassAreNotNan) {
  constexpr int64_t kRows = 100;
  const auto backend = makeCpuBackend(1);
  const Metric metric = compiled(testMetric("cosine"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 8, 7);
  auto queries = reference::encode(ANNUDF_ELEMENT_F32, 8, std::vector<double>(16)); // Zeros.
  const Index index = indexOf(base, 1);
  const auto predicate =
      predicateOf({bitmapOf(2, kRows, [](int64_t q, int64_t id) { return q == 1 && id == 42; })});
  SearchStats stats;
  const Found got = searchBy(*backend, index, metric, queries, 3,
                             {.candidates = Lists{1}, .predicate = predicate}, &stats);
  EXPECT_EQ(got.ids, std::vector<int64_t>(6, -1));
  EXPECT_EQ(stats.nanDistances, 1);
  EXPECT_EQ(stats.nanQuery, 1);
  EXPECT_EQ(stats.nanRow, 42);
}

/// Rows that stay where they are come a piece at a time.
TEST(CpuPredicate, PiecesEqualOneList) {
  constexpr int64_t kRows = 5000, kQueries = 6;
  const auto backend = makeCpuBackend(2);
  for (const TestMetric &test : {testMetric("l1"), metricsOf().back()}) {
    const Metric metric = compiled(test);
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 8, 7),
               queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, 8, 8);
    const Index whole = Index::ofOneList(view(base), false, 2),
                inPlace = Index::overRows(view(base), false, 2);
    const Tenants of(kRows, kQueries, 4);
    for (const Case &one : casesOf(whole, kQueries, of)) {
      SCOPED_TRACE(test.name + ", " + one.name);
      SearchStats a, b;
      const SearchParams params = {.predicate = one.predicate};
      const Found expected = searchBy(*backend, whole, metric, queries, 10, params, &a);
      const Found found = searchBy(*backend, inPlace, metric, queries, 10, params, &b);
      EXPECT_EQ(found.ids, expected.ids);
      EXPECT_EQ(found.distances, expected.distances);
      EXPECT_EQ(b.scored, a.scored);
      EXPECT_DOUBLE_EQ(b.passingShare, a.passingShare);
    }
  }
}

/// Each row has its own tenant, also where ids repeat: a predicate is computed by row.
TEST(CpuPredicate, ColumnsOfRowsWhoseIdsRepeat) {
  constexpr int64_t kRows = 200, kQueries = 5;
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 8, 7),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, 8, 8);
  Tenants of(kRows, kQueries, 3);
  IndexParams build;
  build.nLists = 3, build.addData = false, build.threads = 2;
  Index index = Index::build(build, view(base));
  std::vector<int64_t> ids;
  for (int64_t row = 0; row < kRows; ++row)
    ids.push_back(row / 2);
  const NewColumns columns = newColumns({{"tenant", valueOf(of.tenant)}});
  index.extend(view(base), {.ids = ids.data(), .allowRepeated = true, .columns = &columns});
  const auto predicate = predicateOf({codeFor(index, nullptr, of.mine)});
  const Found got = searchBy(*backend, index, metric, queries, int(kRows),
                             {.candidates = Lists{3}, .predicate = predicate});
  for (int64_t q = 0; q < kQueries; ++q) {
    std::vector<int64_t> found, wanted;
    for (int64_t i = 0; i < kRows; ++i)
      if (const int64_t id = got.ids[size_t(q * kRows + i)]; id >= 0)
        found.push_back(id);
    for (int64_t row = 0; row < kRows; ++row)
      if (of.pass(q, row))
        wanted.push_back(ids[size_t(row)]);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, wanted) << "query " << q;
  }
}

std::string refusal(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

TEST(CpuPredicate, RefusesWhatDoesNotFit) {
  constexpr int64_t kRows = 100, kQueries = 4;
  const auto backend = makeCpuBackend(1);
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 8, 7),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kQueries, 8, 8);
  const Index index = indexOf(base, 2);
  const Tenants of(kRows, 3, 2);
  const Passes all = [](int64_t, int64_t) { return true; };
  const auto refused = [&](Predicate::Step step, int64_t firstQuery = 0) {
    return refusal([&] {
      (void)searchBy(*backend, index, metric, queries, 1,
                     {.candidates = Lists{2},
                      .predicate = predicateOf({std::move(step)}),
                      .firstQuery = firstQuery});
    });
  };
  EXPECT_EQ(refused(bitmapOf(kQueries, kRows - 1, all)),
            "each row of the bitmap has 99 bits, the largest id of the index is 99; give it a bit "
            "for every id");
  EXPECT_EQ(refused(bitmapOf(3, kRows, all)), "the bitmap is for 3 queries, this search has 4; "
                                              "give a row of bits for each query");
  EXPECT_EQ(refused(bitmapOf(kQueries, kRows, all), 4),
            "the bitmap is for 4 queries, this search has 4 of a larger one; give a row of bits "
            "for each query");
  EXPECT_EQ(refused(filterOf(99, [](int64_t) { return true; })),
            "the filter has 99 bits, the largest id of the index is 99; give it a bit for every "
            "id");
  EXPECT_EQ(refused(codeFor(index, &of.tenant, of.mine)),
            "capture 'mine' (query x i32) of filter 'same_tenant' is bound to 3 x i32, this search "
            "has 4 queries; bind an array with one entry a query");
  EXPECT_EQ(refused(codeFor(index, &of.tenant, {0, 1, 2, 3}), 4),
            "filter 'same_tenant' (same_tenant.annudf) has captures of queries, so all queries are "
            "searched at once, from number 0");
  EXPECT_EQ(refused(Predicate::Code{std::make_shared<const Metric>(compiled(testMetric("l2"))),
                                    std::make_shared<const BoundCaptures>()}),
            "metric 'l2' (l2.annudf) gives distances and cannot filter; write an annudf.filter");
  EXPECT_EQ(refused(Predicate::Code{tenantFilter(), std::make_shared<const BoundCaptures>()}),
            "filter 'same_tenant' (same_tenant.annudf) needs captures tenant (row x i32), mine "
            "(query x i32); none were bound");
  Index longer = indexOf(base, 2);
  longer.extend(view(base));
  EXPECT_EQ(refusal([&] {
              (void)searchBy(
                  *backend, longer, metric, queries, 1,
                  {.candidates = Lists{2},
                   .predicate = predicateOf({codeFor(index, &of.tenant, {0, 1, 2, 3})})});
            }),
            "capture 'tenant' (row x i32) of filter 'same_tenant' is bound to 100 x i32, the "
            "largest id of the index is 199; bind an array of at least 200 rows");
  const Predicate::Code code = codeFor(index, &of.tenant, of.mine);
  EXPECT_EQ(refusal([&] { (void)keptRows(*backend, index, *code.filter, *code.captures); }),
            "filter 'same_tenant' sees the query, so no bits serve all queries; search with it as "
            "a predicate");
}

TEST(CpuPredicate, JoinsThatCannotBe) {
  const Passes all = [](int64_t, int64_t) { return true; };
  const Predicate::Step rows = filterOf(10, [](int64_t) { return true; });
  const auto refused = [](std::vector<Predicate::Step> steps) {
    return refusal([&] { (void)Predicate(std::move(steps)); });
  };
  EXPECT_EQ(refused({rows, bitmapOf(2, 11, all), Join::And}),
            "filters of 10 and 11 bits cannot be joined; make them for the same index");
  EXPECT_EQ(refused({bitmapOf(3, 10, all), bitmapOf(2, 10, all), Join::Or}),
            "filters of 3 and 2 queries cannot be joined; make them for the same search");
  EXPECT_EQ(refused({rows, rows}), "predicate: its steps leave 2 results; join them to one");
  EXPECT_EQ(refused({rows, Join::And}),
            "predicate: a join of 2 filters follows 1; give operands before their join");
  EXPECT_EQ(refused({rows, bitmapOf(2, 10, all), Join::And}), "accepted");
}

/// What the planner is told before a backend has looked: at most.
TEST(CpuPredicate, ShareOfWhatMayPass) {
  const auto half = filterOf(100, [](int64_t id) { return id % 2 == 0; });
  const auto tenth = bitmapOf(4, 100, [](int64_t q, int64_t id) { return (q + id) % 10 == 0; });
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 100, 8, 7);
  const Index index = indexOf(base, 2);
  const Tenants of(100, 4, 2);
  const Predicate::Code code = codeFor(index, &of.tenant, of.mine);
  const auto share = [](std::vector<Predicate::Step> steps) {
    return Predicate(std::move(steps)).passingShare(100);
  };
  EXPECT_DOUBLE_EQ(share({tenth}), 0.1);
  EXPECT_DOUBLE_EQ(share({tenth, half, Join::And}), 0.1);
  EXPECT_DOUBLE_EQ(share({tenth, half, Join::Or}), 0.6);
  EXPECT_DOUBLE_EQ(share({tenth, Join::Not, half, Join::And}), 0.5);
  EXPECT_DOUBLE_EQ(share({code, half, Join::And}), 0.5);
  EXPECT_LT(share({code, Join::Not}), 1);
  EXPECT_GT(share({code, Join::Not}), 0.999);
}

} // namespace
