//===- RefineOwnTest.cpp - Candidates among an index's rows on a GPU ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so. Columns of metrics are in
// test/python/ivf_flat/test_refine_own.py, as no metric of these tests reads one.
//
//===----------------------------------------------------------------------===//

#include "../RefineOwnTesting.h"

#include "CudaMetrics.h"
#include "SharedBackend.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int64_t kRows = 600;

/// Lists stay on the device.
IndexMaker onDevice() {
  return {[](const IndexParams &params, const MatrixView &rows) {
            return sharedBackend()->buildFromHost(params, rows);
          },
          [](const MatrixView &rows, const RowIds &ids) {
            return sharedBackend()->storeRows(rows, {}, {ids});
          },
          [](Index &index, const MatrixView &rows, const NewIds &ids) {
            sharedBackend()->extendFromHost(index, rows, ids);
          },
          [](Index &index, std::span<const int64_t> ids) { sharedBackend()->remove(index, ids); }};
}

/// A call whose candidates and queries may each be on the device.
struct Call {
  const Index &index;
  const std::vector<int64_t> &candidates;
  const MatrixView queries;
  SearchParams params = {};
  int64_t ofQueries = 0; ///< That captures are bound for; 0: of these.

  Found refine(const Metric &metric, int k, bool candidatesThere, bool queriesThere,
               SearchStats *stats = nullptr) const {
    CudaBackend &gpu = *sharedBackend();
    const auto put = [&](const void *from, size_t bytes) {
      auto memory = gpu.allocate(bytes, nullptr);
      gpu.copy(memory->address(), reinterpret_cast<uint64_t>(from), bytes, nullptr);
      return memory;
    };
    MatrixView of = queries;
    const auto asked = put(of.data, size_t(of.rows * bytesOfRow(of.element, of.dims))),
               given = put(candidates.data(), candidates.size() * 8);
    CandidateRows ids = {candidates.data(), of.rows, int64_t(candidates.size()) / of.rows};
    if (queriesThere)
      of.data = reinterpret_cast<const void *>(asked->address());
    if (candidatesThere)
      ids.ids = reinterpret_cast<const int64_t *>(given->address());
    Found found;
    found.ids.assign(size_t(of.rows) * size_t(k), -777);
    found.distances.assign(found.ids.size(), -777);
    const auto outIds = put(found.ids.data(), found.ids.size() * 8),
               outDistances = put(found.distances.data(), found.distances.size() * 4);
    gpu.refineOwn(
        index, ids, {candidatesThere, nullptr}, metric,
        bind(metric, of.dims, ofQueries ? ofQueries : of.rows), of, {queriesThere, nullptr}, k,
        params, queriesThere ? reinterpret_cast<int64_t *>(outIds->address()) : found.ids.data(),
        queriesThere ? reinterpret_cast<float *>(outDistances->address()) : found.distances.data(),
        stats);
    if (queriesThere) {
      gpu.copy(reinterpret_cast<uint64_t>(found.ids.data()), outIds->address(),
               found.ids.size() * 8, nullptr);
      gpu.copy(reinterpret_cast<uint64_t>(found.distances.data()), outDistances->address(),
               found.distances.size() * 4, nullptr);
      gpu.synchronize(nullptr);
    }
    return found;
  }
};

/// Rows of one chunk, of several, and with an end that fills none, in several lists and places.
TEST(CudaRefineOwn, EqualsAnExactSearchOfTheCandidates) {
  REQUIRE_GPU("candidates are ranked there");
  for (const TestMetric &test : testMetrics()) {
    const Metric metric = unfusedMetric(test);
    for (const annudf_element element : test.elements)
      for (const int32_t dims : {8, 40, 128}) {
        const bool isEach = test.name == "l2";
        if (!isEach && (dims != 40 || element != test.elements.front()))
          continue; // How rows are read does not depend on the metric.
        const auto base = reference::randomVectors(element, kRows, dims, 1),
                   queries = reference::randomVectors(element, 23, dims, 2);
        for (const bool isHost : {false, isEach})
          for (const OwnIndex &own : ownIndexes(isHost ? onHost() : onDevice(), base)) {
            SCOPED_TRACE(test.name + " " + toString(element) + ", " + std::to_string(dims) +
                         " dims, " + own.name);
            const Found all = everyRow(*sharedBackend(), own.index, metric,
                                       bind(metric, base.dims, queries.rows), queries);
            for (const int64_t columns : {1, 33, 200}) {
              const auto candidates = someOf(own.ids, queries.rows, columns);
              const int k = int(std::min<int64_t>(columns, 40));
              for (const bool there : {false, true}) {
                SearchStats stats;
                const Found found = Call{own.index, candidates, view(queries)}.refine(
                    metric, k, there, there, &stats);
                EXPECT_EQ(stats.family, "candidates");
                ASSERT_NO_FATAL_FAILURE(
                    expectOwn(all, candidates, queries.rows, k, test.order, found));
              }
            }
          }
      }
  }
}

TEST(CudaRefineOwn, ArraysMayBeInSeveralPlaces) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 32, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 77, 32, 2);
  for (const OwnIndex &own : ownIndexes(onDevice(), base)) {
    const auto candidates = someOf(own.ids, 77, 90);
    const Call call = {own.index, candidates, view(queries)};
    const Found expected = call.refine(metric, 20, false, false);
    for (int places = 1; places < 4; ++places) {
      const Found found = call.refine(metric, 20, places & 1, places & 2);
      EXPECT_EQ(found.ids, expected.ids) << own.name << " " << places;
      EXPECT_EQ(found.distances, expected.distances) << own.name << " " << places;
    }
    EXPECT_EQ(own.index.device(), 0);
    EXPECT_FALSE(own.index.onHost()) << own.name; // Only ids came to the host.
  }
}

/// More than a piece, and more candidates than a block of threads has room for.
TEST(CudaRefineOwn, ManyCandidates) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 3, 1);
  for (const OwnIndex &own : ownIndexes(onDevice(), base))
    for (const auto &[asked, columns] : {std::pair<int64_t, int64_t>(40000, 700), {9, 9000}}) {
      if (asked > 9 && own.name != "far")
        continue;
      const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, asked, 3, 2);
      const auto candidates = someOf(own.ids, asked, columns);
      const Found found =
          Call{own.index, candidates, view(queries)}.refine(metric, 10, true, false);
      // As one query at a time, of some.
      for (int64_t q = 0; q < asked; q += std::max<int64_t>(1, asked / 20)) {
        const reference::Vectors one = {
            1,
            3,
            queries.element,
            {},
            {queries.encoded.begin() + q * 12, queries.encoded.begin() + (q + 1) * 12}};
        const std::vector<int64_t> mine(candidates.begin() + q * columns,
                                        candidates.begin() + (q + 1) * columns);
        const Found all = everyRow(*sharedBackend(), own.index, metric, bind(metric, 3, 1), one);
        const Found part = {
            {found.ids.begin() + q * 10, found.ids.begin() + (q + 1) * 10},
            {found.distances.begin() + q * 10, found.distances.begin() + (q + 1) * 10}};
        ASSERT_NO_FATAL_FAILURE(expectOwn(all, mine, 1, 10, ANNUDF_ORDER_MIN, part));
      }
    }
}

/// A column of the index is read by the slots there, a filter by ids; parts equal the whole.
TEST(CudaRefineOwn, FiltersColumnsAndParts) {
  REQUIRE_GPU("candidates are ranked there");
  const auto filter = std::make_shared<const Metric>(cudaFilter(sameTenant("")));
  const Metric metric = unfusedMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 9, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 9, 2);
  std::vector<int32_t> mine(50);
  for (size_t q = 0; q < mine.size(); ++q)
    mine[q] = int32_t(q * 7 % 4); // No row is of the last.
  for (const IndexMaker &maker : {onHost(), onDevice()})
    for (OwnIndex &own : ownIndexes(maker, base)) {
      SCOPED_TRACE(own.name);
      addTenants(own);
      SearchParams params;
      params.predicate = tenantPredicate(filter, own.index, mine);
      if (own.index.rowExtent() < 10000)
        params.filter = filterOf(own.index.rowExtent(), [](int64_t id) { return id % 3 != 0; });
      const Found all =
          everyRow(*sharedBackend(), own.index, metric, bind(metric, 9, 50), queries, params);
      const auto candidates = someOf(own.ids, 50, 60);
      for (const bool there : {false, true}) {
        const Found found =
            Call{own.index, candidates, view(queries), params}.refine(metric, 20, there, there);
        expectOwn(all, candidates, 50, 20, ANNUDF_ORDER_MIN, found);
        for (const auto &[first, count] : {std::pair<int64_t, int64_t>(0, 13), {13, 37}}) {
          SearchParams some = params;
          some.firstQuery = first, some.ofQueries = 50;
          const std::vector<int64_t> part(candidates.begin() + first * 60,
                                          candidates.begin() + (first + count) * 60);
          const Found of = Call{own.index, part, partOf(queries, first, count), some, 50}.refine(
              metric, 20, there, there);
          EXPECT_TRUE(std::equal(of.ids.begin(), of.ids.end(), found.ids.begin() + first * 20));
          EXPECT_TRUE(std::equal(of.distances.begin(), of.distances.end(),
                                 found.distances.begin() + first * 20));
        }
      }
    }
}

/// What an enqueued search reads stays as it was, whatever becomes of the index.
TEST(CudaRefineOwn, OutlivesAChangeOfTheIndex) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 64, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 2000, 64, 2);
  CudaBackend &gpu = *sharedBackend();
  IndexParams build;
  build.nLists = 20, build.kmeansIterations = 2;
  auto index = std::make_unique<Index>(gpu.buildFromHost(build, view(base)));
  const auto candidates = someCandidates(2000, 200, 20000);
  const Call call = {*index, candidates, view(queries)};
  const Found expected = call.refine(metric, 10, false, false);
  const auto put = [&](const void *from, size_t bytes) {
    auto memory = gpu.allocate(bytes, nullptr);
    if (from)
      gpu.copy(memory->address(), reinterpret_cast<uint64_t>(from), bytes, nullptr);
    return memory;
  };
  const auto asked = put(queries.encoded.data(), queries.encoded.size()),
             given = put(candidates.data(), candidates.size() * 8), ids = put(nullptr, 20000 * 8),
             distances = put(nullptr, 20000 * 4);
  MatrixView there = view(queries);
  there.data = reinterpret_cast<const void *>(asked->address());
  for (int i = 0; i < 20; ++i)
    gpu.refineOwn(*index, {reinterpret_cast<const int64_t *>(given->address()), 2000, 200},
                  {true, nullptr}, metric, bind(metric, 64, 2000), there, {true, nullptr}, 10, {},
                  reinterpret_cast<int64_t *>(ids->address()),
                  reinterpret_cast<float *>(distances->address()), nullptr);
  index.reset();
  Found found = expected;
  std::fill(found.ids.begin(), found.ids.end(), -777);
  gpu.copy(reinterpret_cast<uint64_t>(found.ids.data()), ids->address(), found.ids.size() * 8,
           nullptr);
  gpu.synchronize(nullptr);
  EXPECT_EQ(found.ids, expected.ids);
}

TEST(CudaRefineOwn, Refuses) {
  REQUIRE_GPU("candidates are ranked there");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 4, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 5, 4, 2);
  for (const bool there : {false, true})
    for (OwnIndex &own : ownIndexes(onDevice(), base)) {
      SCOPED_TRACE(own.name);
      std::vector<int64_t> candidates(15, own.ids[3]);
      const auto refusal = [&] {
        return messageOf([&] {
          (void)Call{own.index, candidates, view(queries)}.refine(metric, 3, there, there);
        });
      };
      EXPECT_EQ(refusal(), "");
      for (const int64_t wrong : {own.index.largestId() + 1, int64_t(-2), INT64_MAX, INT64_MIN}) {
        candidates[7] = wrong, candidates[14] = -3;
        EXPECT_EQ(refusal(), "candidates[2, 1] is " + std::to_string(wrong) +
                                 ", which is no id of the index; give ids of its rows, or -1 for "
                                 "none");
      }
      candidates[7] = candidates[14] = -1;
      sharedBackend()->remove(own.index, std::vector<int64_t>{own.ids[3]});
      EXPECT_EQ(refusal(), "candidates[0, 0] is " + std::to_string(own.ids[3]) +
                               ", which is no id of the index; give ids of its rows, or -1 for "
                               "none");
      const std::vector<int64_t> again = {own.ids[2], own.ids[1], own.ids[2]};
      sharedBackend()->extendFromHost(own.index, partOf(base, 0, 3), {again.data(), true});
      EXPECT_EQ(refusal(), "index: several rows have id " +
                               std::to_string(std::min(own.ids[1], own.ids[2])) +
                               ", so a candidate does not name one; give each row its own id");
      sharedBackend()->remove(own.index, own.ids);
      EXPECT_EQ(refusal(), "index: there are 0 rows; add some first");
    }
}

} // namespace
