//===- RefineTesting.h - Candidates ranked again, against brute force -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is found among candidates is compared, to the bit, with an exact search of all rows whose
// filter lets the candidates pass.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_REFINETESTING_H
#define ANNUDF_TEST_RUNTIME_REFINETESTING_H

#include "FilterTesting.h"

#include "annudf/runtime/engine/Refine.h"

#include <bit>

namespace annudf::test {

/// Candidates of some queries: rows at random, one in eight of them none, one in eight the one
/// before it again.
inline std::vector<int64_t> someCandidates(int64_t queries, int64_t columns, int64_t rows) {
  std::mt19937 random(unsigned(queries * 31 + columns));
  std::vector<int64_t> ids(size_t(queries * columns));
  for (size_t i = 0; i < ids.size(); ++i) {
    const unsigned kind = random() % 8;
    ids[i] = kind == 0 ? -1 : kind == 1 && i > 0 ? ids[i - 1] : int64_t(random() % unsigned(rows));
  }
  return ids;
}

/// One call of the engine, as the C API makes it of arrays in host memory.
struct Refinement {
  runtime::Backend &backend;
  const runtime::Metric &metric;
  const reference::Vectors &base, &queries;
  const std::vector<int64_t> &candidates;
  runtime::SearchParams params = {};
  int64_t bytesOfPiece = int64_t(64) << 20;
  int pieces = 0;
  runtime::SearchStats stats = {};

  Found search(int k) {
    Found found;
    found.ids.assign(size_t(queries.rows) * size_t(k), -777);
    found.distances.assign(found.ids.size(), -777);
    const runtime::CandidateRows given = {candidates.data(), queries.rows,
                                          int64_t(candidates.size()) / queries.rows};
    checkRefine(view(base), view(queries), given.queries, given.columns, k);
    checkCandidateRows(given, base.rows, 2);
    const auto captures = bind(metric, base.dims, queries.rows);
    pieces = 0;
    searchByQueries(
        view(queries), runtime::bytesOfCandidates(view(base), given.columns),
        [&](int64_t first, int64_t count, const runtime::Progress &progress) {
          ++pieces;
          return runtime::gatherCandidates(view(base), given, first, count, false, 2, progress);
        },
        [&](const runtime::RowStore &store, const runtime::MatrixView &some, int64_t first,
            const runtime::SearchParams &of, runtime::SearchStats *cost) {
          backend.search(store, metric, captures, some, k, of, found.ids.data() + first * k,
                         found.distances.data() + first * k, cost);
        },
        params, &stats, bytesOfPiece);
    return found;
  }
};

/// The k best of a query's candidates, by an exact search of all rows.
inline Found restrictedSearch(runtime::Backend &backend, const runtime::Index &index,
                              const runtime::Metric &metric, const reference::Vectors &queries,
                              int64_t query, std::span<const int64_t> candidates, int k) {
  std::vector<bool> is(size_t(index.size()));
  for (const int64_t id : candidates)
    if (id >= 0)
      is[size_t(id)] = true;
  runtime::SearchParams params;
  params.filter = filterOf(index.size(), [&](int64_t id) { return is[size_t(id)]; });
  params.firstQuery = query, params.ofQueries = queries.rows;
  runtime::MatrixView one = view(queries);
  one.data = static_cast<const std::byte *>(one.data) +
             size_t(query) * queries.encoded.size() / size_t(queries.rows);
  one.rows = 1;
  const int most = int(std::min<int64_t>(k, index.size()));
  Found found;
  found.ids.resize(size_t(most)), found.distances.resize(size_t(most));
  backend.search(index, metric, bind(metric, queries.dims, queries.rows), one, most, params,
                 found.ids.data(), found.distances.data());
  const double worst = metric.artifact.manifest.order == ANNUDF_ORDER_MIN ? INFINITY : -INFINITY;
  found.ids.resize(size_t(k), -1), found.distances.resize(size_t(k), float(worst));
  return found;
}

inline void expectRestricted(runtime::Backend &backend, const runtime::Index &index,
                             const runtime::Metric &metric, const reference::Vectors &queries,
                             const std::vector<int64_t> &candidates, int k, const Found &found) {
  const size_t columns = candidates.size() / size_t(queries.rows);
  const int64_t step = std::max<int64_t>(1, queries.rows / 40);
  for (int64_t q = 0; q < queries.rows; q += step) {
    const Found expected =
        restrictedSearch(backend, index, metric, queries, q,
                         std::span(candidates).subspan(size_t(q) * columns, columns), k);
    for (int i = 0; i < k; ++i) {
      const size_t at = size_t(q * k + i);
      ASSERT_EQ(found.ids[at], expected.ids[size_t(i)]) << "query " << q << ", rank " << i;
      ASSERT_EQ(std::bit_cast<uint32_t>(found.distances[at]),
                std::bit_cast<uint32_t>(expected.distances[size_t(i)]))
          << "query " << q << ", rank " << i;
    }
  }
}

/// Against the reference as well, which shares nothing with the searches.
inline void expectReference(const TestMetric &test, const reference::Vectors &base,
                            const reference::Vectors &queries,
                            const std::vector<int64_t> &candidates, int k, const Found &found) {
  const size_t columns = candidates.size() / size_t(queries.rows);
  for (int64_t q = 0; q < queries.rows; ++q) {
    std::set<int64_t> own(candidates.begin() + q * int64_t(columns),
                          candidates.begin() + (q + 1) * int64_t(columns));
    own.erase(-1);
    ASSERT_EQ(reference::check(base, {own.begin(), own.end()}, queries.row(q), k, test.order,
                               test.distance, &found.ids[size_t(q * k)],
                               &found.distances[size_t(q * k)], 1e-4, cancellation(test, base)),
              "")
        << test.name << ", query " << q;
  }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_REFINETESTING_H
