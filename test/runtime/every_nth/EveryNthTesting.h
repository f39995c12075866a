//===- EveryNthTesting.h - What both backends find of every n-th list -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTHTESTING_H
#define ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTHTESTING_H

#include "EveryNth.h"

#include "annudf/runtime/engine/Search.h"
#include "runtime/cpu/TestMetrics.h"
#include "gtest/gtest.h"

#include <memory>
#include <string>
#include <vector>

namespace annudf::test {

/// A store of 24 lists, and queries.
struct EveryNthWorld {
  reference::Vectors base, queries;
  EveryNth store;

  EveryNthWorld(annudf_element element, int64_t rows, int64_t asked, int32_t dims)
      : base(reference::randomVectors(element, rows, dims, 1)),
        queries(reference::randomVectors(element, asked, dims, 2)), store(view(base), 24) {}

  /// Rows of the lists that a query scans, those with an odd id where `onlyOdd`.
  std::vector<int64_t> rowsOf(int64_t query, uint32_t n, bool onlyOdd) const {
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < base.rows; ++id)
      if (EveryNth::isCandidate(query, store.listOf(id), n) && (!onlyOdd || id % 2 == 1))
        ids.push_back(id);
    return ids;
  }
  std::shared_ptr<const runtime::RowFilter> oddIds() const {
    std::vector<uint32_t> words(size_t(runtime::RowFilter::wordsFor(base.rows)), 0xAAAAAAAA);
    return std::make_shared<const runtime::RowFilter>(std::move(words), base.rows);
  }

  /// What was found against a sort of all distances.
  void check(const TestMetric &test, int k, uint32_t n, bool onlyOdd,
             const std::vector<int64_t> &ids, const std::vector<float> &distances) const {
    for (int64_t q = 0; q < queries.rows; ++q)
      ASSERT_EQ(reference::check(base, rowsOf(q, n, onlyOdd), queries.row(q), k, test.order,
                                 test.distance, &ids[size_t(q * k)], &distances[size_t(q * k)],
                                 1e-4, cancellation(test, base)),
                "")
          << test.name << ", k " << k << ", every list number " << n << ", query " << q;
  }
};

/// Searches with a table, of all lists by default, and with a filter.
/// \param family  as of SearchParams.
inline void checkEveryNth(runtime::Backend &backend, const runtime::Metric &metric,
                          const TestMetric &test, const EveryNthWorld &world,
                          const std::string &family = "") {
  for (const uint32_t n : {1U, 3U, 24U})
    for (const int k : {1, 10, 200})
      for (const bool onlyOdd : {false, true}) {
        const std::vector<uint32_t> table = world.store.table(world.queries.rows, n);
        runtime::SearchParams params;
        params.family = family;
        // Candidates are by the place of a query in the search, whatever number it has.
        params.firstQuery = metric.artifact.manifest.captures.empty() ? 5 : 0;
        if (n != 1)
          params.candidates = world.store.candidates(table, n);
        if (onlyOdd)
          params.filter = world.oddIds();
        std::vector<int64_t> ids(size_t(world.queries.rows * k), -777);
        std::vector<float> distances(ids.size(), -777);
        runtime::SearchStats stats;
        backend.search(world.store, metric, bind(metric, world.base.dims), view(world.queries), k,
                       params, ids.data(), distances.data(), &stats);
        world.check(test, k, n, onlyOdd, ids, distances);
        if (!family.empty()) {
          EXPECT_EQ(stats.family, family);
        }
      }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTHTESTING_H
