//===- RefineOwnTest.cpp - Candidates among an index's rows on a CPU ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../RefineOwnTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kRows = 500;

/// Those, and rows that stay where they are.
std::vector<OwnIndex> indexesOf(const reference::Vectors &base) {
  std::vector<OwnIndex> made = ownIndexes(onHost(), base);
  const std::vector<int64_t> ids = idsFrom(9, base.rows, int64_t(1) << 35);
  made.push_back(
      {"in place", Index::overRows(view(base), false, 2, {nullptr, 70}), idsFrom(70, base.rows)});
  made.push_back({"in place far", Index::overRows(view(base), false, 2, {ids.data()}), ids});
  return made;
}

Found refined(Backend &backend, const Index &index, const std::vector<int64_t> &candidates,
              const Metric &metric, const reference::Vectors &queries, int k,
              const SearchParams &params = {}, SearchStats *stats = nullptr) {
  Found found;
  found.ids.assign(size_t(queries.rows) * size_t(k), -777);
  found.distances.assign(found.ids.size(), -777);
  refineOwn(backend, index,
            {candidates.data(), queries.rows, int64_t(candidates.size()) / queries.rows}, metric,
            bind(metric, queries.dims, queries.rows), view(queries), k, params, found.ids.data(),
            found.distances.data(), stats);
  return found;
}

std::shared_ptr<const Metric> tenantFilter() {
  static const auto filter = std::make_shared<const Metric>(
      Metric::fromArtifact(sameTenant(readBitcode("same_tenant")), "same_tenant.annudf"));
  return filter;
}

TEST(CpuRefineOwn, EqualsAnExactSearchOfTheCandidates) {
  const auto backend = makeCpuBackend(2);
  for (const char *name : {"l2", "inner_product", "cosine", "hamming"}) {
    const TestMetric &test = testMetric(name);
    const Metric metric = compiled(test);
    for (const annudf_element element : test.elements) {
      if (test.name != "l2" && element != test.elements.front())
        continue; // Links take most of the time.
      const auto base = reference::randomVectors(element, kRows, 40, 1);
      const auto queries = reference::randomVectors(element, 23, 40, 2);
      for (const OwnIndex &own : indexesOf(base)) {
        SCOPED_TRACE(test.name + " " + toString(element) + ", " + own.name);
        const bool inPlace = own.index.rowsInPlace() != nullptr;
        const Found all = everyRow(*backend, own.index, metric, bind(metric, base.dims), queries);
        for (const int64_t columns : {1, 33, 200}) {
          const auto candidates = someOf(own.ids, queries.rows, columns);
          const int k = int(std::min<int64_t>(columns, 40));
          const Found found = refined(*backend, own.index, candidates, metric, queries, k);
          expectOwn(all, candidates, queries.rows, k, test.order, found);
        }
        EXPECT_EQ(own.index.rowsInPlace() != nullptr, inPlace); // Nobody asked for their list.
      }
    }
  }
}

TEST(CpuRefineOwn, FiltersAndColumns) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 31, 9, 2);
  std::vector<int32_t> mine(31);
  for (size_t q = 0; q < mine.size(); ++q)
    mine[q] = int32_t(q % 4); // No row is of the last.
  for (OwnIndex &own : ownIndexes(onHost(), base)) {
    SCOPED_TRACE(own.name);
    addTenants(own);
    SearchParams params;
    params.predicate = tenantPredicate(tenantFilter(), own.index, mine);
    if (own.index.rowExtent() < 10000)
      params.filter = filterOf(own.index.rowExtent(), [](int64_t id) { return id % 3 != 0; });
    const Found all =
        everyRow(*backend, own.index, metric, bind(metric, base.dims), queries, params);
    const auto candidates = someOf(own.ids, queries.rows, 60);
    SearchStats stats;
    const Found found =
        refined(*backend, own.index, candidates, metric, queries, 20, params, &stats);
    expectOwn(all, candidates, queries.rows, 20, ANNUDF_ORDER_MIN, found);
    EXPECT_GT(stats.passingShare, 0);
    EXPECT_LT(stats.passingShare, 0.5);
  }
}

/// Parts of a batch see numbers and captures of their queries, and equal the whole.
TEST(CpuRefineOwn, PartsOfABatch) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 9, 2);
  std::vector<int32_t> mine(50);
  for (size_t q = 0; q < mine.size(); ++q)
    mine[q] = int32_t(q * 7 % 3);
  OwnIndex own = std::move(ownIndexes(onHost(), base).back());
  addTenants(own);
  SearchParams params;
  params.predicate = tenantPredicate(tenantFilter(), own.index, mine);
  const auto candidates = someOf(own.ids, 50, 40);
  const Found whole = refined(*backend, own.index, candidates, metric, queries, 7, params);
  for (const auto &[first, count] : {std::pair<int64_t, int64_t>(0, 13), {13, 37}}) {
    params.firstQuery = first, params.ofQueries = 50;
    std::vector<int64_t> ids(size_t(count * 7));
    std::vector<float> distances(ids.size());
    refineOwn(*backend, own.index, {candidates.data() + first * 40, count, 40}, metric,
              bind(metric, 9, 50), partOf(queries, first, count), 7, params, ids.data(),
              distances.data());
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), whole.ids.begin() + first * 7));
    EXPECT_TRUE(
        std::equal(distances.begin(), distances.end(), whole.distances.begin() + first * 7));
  }
}

TEST(CpuRefineOwn, Refuses) {
  const auto backend = makeCpuBackend(2);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 4, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 4, 2),
             other = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 6, 2);
  for (OwnIndex &own : indexesOf(base)) {
    SCOPED_TRACE(own.name);
    std::vector<int64_t> candidates(15, own.ids[3]);
    const auto refusal = [&](const reference::Vectors &asked, int k) {
      return messageOf([&] { (void)refined(*backend, own.index, candidates, metric, asked, k); });
    };
    EXPECT_EQ(refusal(queries, 3), "");
    EXPECT_EQ(refusal(queries, 4),
              "k is 4, but a query has 3 candidates; ask for fewer, or give more");
    EXPECT_EQ(refusal(other, 3), "queries have 6 dims, the index has 4");
    for (const int64_t wrong : {own.index.largestId() + 1, int64_t(-2), INT64_MAX, INT64_MIN}) {
      candidates[7] = wrong, candidates[14] = -3;
      EXPECT_EQ(refusal(queries, 3), "candidates[2, 1] is " + std::to_string(wrong) +
                                         ", which is no id of the index; give ids of its rows, or "
                                         "-1 for none");
    }
    candidates[7] = candidates[14] = -1;
    // A row that goes is a row no more, and the others are where they are then.
    if (own.index.rowsInPlace())
      continue;
    own.index.remove(std::vector<int64_t>{own.ids[3]});
    EXPECT_EQ(refusal(queries, 3), "candidates[0, 0] is " + std::to_string(own.ids[3]) +
                                       ", which is no id of the index; give ids of its rows, or "
                                       "-1 for none");
    const std::vector<int64_t> again = {own.ids[2], own.ids[1], own.ids[2]};
    own.index.extend(partOf(base, 0, 3), {again.data(), true});
    EXPECT_EQ(refusal(queries, 3),
              "index: several rows have id " + std::to_string(std::min(own.ids[1], own.ids[2])) +
                  ", so a candidate does not name one; give each row its own id");
    own.index.remove(own.ids);
    EXPECT_EQ(refusal(queries, 3), "index: there are 0 rows; add some first");
  }
}

} // namespace
