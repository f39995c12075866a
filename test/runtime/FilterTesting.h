//===- FilterTesting.h - A filtered search against the same unfiltered -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search with a filter gives what the search without one gives when all that it scans is
// asked for and what does not pass is struck out: the same ids in the same order, and
// distances that are equal to the bit. That the latter is right, other tests show.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_FILTERTESTING_H
#define ANNUDF_TEST_RUNTIME_FILTERTESTING_H

#include "cpu/TestMetrics.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "gtest/gtest.h"

namespace annudf::test {

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

inline Found searchFiltered(runtime::Backend &backend, const runtime::Index &index,
                            const runtime::Metric &metric, const reference::Vectors &queries, int k,
                            uint32_t nProbes, std::shared_ptr<const runtime::RowFilter> filter) {
  Found found; // Poisoned, so that an entry nobody wrote is seen.
  found.ids.assign(size_t(queries.rows) * k, -777);
  found.distances.assign(size_t(queries.rows) * k, -777);
  runtime::SearchParams params;
  params.candidates = runtime::Lists{nProbes}, params.filter = std::move(filter);
  backend.search(index, metric, bind(metric, queries.dims), view(queries), k, params,
                 found.ids.data(), found.distances.data());
  return found;
}

/// Keeps those of ids 0 to bits - 1 that `pass` says.
template <typename Pass>
std::shared_ptr<const runtime::RowFilter> filterOf(int64_t bits, Pass pass) {
  std::vector<uint32_t> words(size_t(runtime::RowFilter::wordsFor(bits)));
  for (int64_t id = 0; id < bits; ++id)
    words[size_t(id / 32)] |= uint32_t(bool(pass(id))) << (id % 32);
  return std::make_shared<const runtime::RowFilter>(std::move(words), bits);
}

/// Half of the rows at random, one in a hundred, one, none, all, and all of every other 512 ids;
/// the last with bits past the last id.
inline std::vector<std::shared_ptr<const runtime::RowFilter>> manyFilters(int64_t rows) {
  std::mt19937 random(5);
  return {filterOf(rows, [&](int64_t) { return random() % 2; }),
          filterOf(rows, [&](int64_t) { return random() % 100 == 0; }),
          filterOf(rows, [&](int64_t id) { return id == rows - 1; }),
          filterOf(rows, [](int64_t) { return false; }),
          filterOf(rows, [](int64_t) { return true; }),
          filterOf(rows + 77, [](int64_t id) { return id / 512 % 2; })};
}

/// \param counts  of queries: those that take each kernel of the backend.
inline void checkFilters(runtime::Backend &backend, const runtime::Metric &metric,
                         const TestMetric &test, annudf_element element,
                         const std::vector<int64_t> &counts) {
  constexpr int64_t kRows = 1000;
  const double worst = test.order == ANNUDF_ORDER_MIN ? INFINITY : -INFINITY;
  const auto filters = manyFilters(kRows);
  for (const int32_t dims : {3, 33}) {
    const auto base = reference::randomVectors(element, kRows, dims, 7);
    runtime::IndexParams build;
    build.nLists = 8, build.kmeansIterations = 3, build.threads = 2;
    const runtime::Index index = runtime::Index::build(build, view(base));
    for (const int64_t count : counts) {
      const auto queries = reference::randomVectors(element, count, dims, 8);
      for (const uint32_t nProbes : {8u, 2u}) {
        const Found all = searchFiltered(backend, index, metric, queries, kRows, nProbes, nullptr);
        for (size_t f = 0; f < filters.size(); ++f)
          for (const int k : {1, 10, 500}) {
            const Found got =
                searchFiltered(backend, index, metric, queries, k, nProbes, filters[f]);
            for (int64_t q = 0; q < count; ++q) {
              int64_t from = q * kRows;
              for (int i = 0; i < k; ++i, ++from) {
                while (from < (q + 1) * kRows && all.ids[size_t(from)] >= 0 &&
                       !filters[f]->passes(all.ids[size_t(from)]))
                  ++from;
                const bool left = from < (q + 1) * kRows;
                const size_t at = size_t(q * k + i);
                ASSERT_EQ(got.ids[at], left ? all.ids[size_t(from)] : -1)
                    << test.name << " " << toString(element) << " dims " << dims << " filter " << f
                    << " k " << k << " probes " << nProbes << " query " << q << " rank " << i;
                ASSERT_EQ(got.distances[at], left ? all.distances[size_t(from)] : float(worst))
                    << "id " << got.ids[at];
              }
            }
          }
      }
    }
  }
}

/// An id past the filter's last bit is refused before anything runs.
inline void checkRefusedFilters(runtime::Backend &backend, const runtime::Metric &metric) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 100, 4, 7);
  runtime::IndexParams build;
  build.nLists = 2;
  const runtime::Index index = runtime::Index::build(build, view(base));
  const auto all = [](int64_t) { return true; };
  EXPECT_NO_THROW(searchFiltered(backend, index, metric, base, 5, 2, filterOf(100, all)));
  try {
    searchFiltered(backend, index, metric, base, 5, 2, filterOf(99, all));
    ADD_FAILURE() << "accepted";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_STREQ(error.what(), "the filter has 99 bits, the largest id of the index is 99; give it "
                               "a bit for every id");
  }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_FILTERTESTING_H
