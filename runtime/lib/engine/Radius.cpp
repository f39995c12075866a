//===- Radius.cpp - What every search by radius does ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Radius.h"

#include "../../kernels/Orders.h"

#include "annudf/runtime/support/Parallel.h"
#include "engine/PieceWalk.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime {

TooManyResults::TooManyResults(int64_t found, int64_t most)
    : ArgumentError(ErrorKind::Usage,
                    {"max_results", std::to_string(most), "at least the rows within the radius"},
                    " is " + std::to_string(most) + ", and the search stopped with " +
                        std::to_string(found) +
                        " rows within the radius; give a smaller radius or a larger max_results"),
      found(found) {}

RadiusKeys::RadiusKeys(annudf_order order)
    : sign_(annudf_kernels::isLargestBest(order) ? -1.0f : 1.0f) {}

int64_t checkMostResults(int64_t given) {
  checkRange("max_results", given, 0, ANNUDF_MAX_RESULTS, ", 0 for the default");
  return given == 0 ? ANNUDF_DEFAULT_MAX_RESULTS : given;
}

void checkRadius(const RowStore &index, const MetricView &metric, const MatrixView &queries,
                 float radius, const SearchParams &params) {
  if (std::isnan(radius))
    throw ArgumentError(ErrorKind::Usage,
                        {"radius", "nan", "a number that distances can be compared with"},
                        " is nan, it must be a number that distances can be compared with");
  if (index.size() == 0)
    throw Error(ErrorKind::Usage, "the index has 0 rows; add some first");
  checkSearch(index, metric, queries, 1, params);
}

namespace {

/// Sorts the results of `count` queries, which `queryOf` numbers.
template <class QueryOf>
void sortQueries(WithinRadius &found, size_t count, annudf_order order, QueryOf queryOf) {
  const RadiusKeys keys(order);
  constexpr size_t kTogether = 64;
  if (count == 0)
    return;
  parallelFor(0, static_cast<int64_t>((count + kTogether - 1) / kTogether), [&](int64_t t, int) {
    std::vector<RowWithin> rows;
    const size_t begin = static_cast<size_t>(t) * kTogether;
    for (size_t i = begin; i < std::min(count, begin + kTogether); ++i) {
      const size_t q = queryOf(i);
      rows.clear();
      for (auto r = static_cast<size_t>(found.starts[q]);
           r < static_cast<size_t>(found.starts[q + 1]); ++r)
        rows.push_back({found.ids[r], keys.keyOf(found.distances[r])});
      writeSorted(rows.data(), rows.data() + rows.size(), keys, found.ids.data() + found.starts[q],
                  found.distances.data() + found.starts[q]);
    }
  });
}

} // namespace

void sortWithin(WithinRadius &found, size_t first, annudf_order order) {
  sortQueries(found, found.starts.size() - 1 - first, order, [&](size_t i) { return first + i; });
}

void sortWithin(WithinRadius &found, size_t first, std::span<const uint32_t> queries,
                annudf_order order) {
  sortQueries(found, queries.size(), order, [&](size_t i) { return first + queries[i]; });
}

WithinRadius joinRows(const std::vector<WithinRadius> &pieces, int64_t queries,
                      annudf_order order) {
  WithinRadius all;
  all.starts.assign(static_cast<size_t>(queries) + 1, 0);
  for (size_t q = 0; q < static_cast<size_t>(queries); ++q) {
    all.starts[q + 1] = all.starts[q];
    for (const WithinRadius &piece : pieces)
      all.starts[q + 1] += piece.starts[q + 1] - piece.starts[q];
  }
  all.ids.resize(static_cast<size_t>(all.starts.back()));
  all.distances.resize(all.ids.size());
  for (size_t q = 0; q < static_cast<size_t>(queries); ++q) {
    auto at = all.starts[q];
    for (const WithinRadius &piece : pieces) {
      const int64_t begin = piece.starts[q], end = piece.starts[q + 1];
      std::copy(piece.ids.begin() + begin, piece.ids.begin() + end, all.ids.begin() + at);
      std::copy(piece.distances.begin() + begin, piece.distances.begin() + end,
                all.distances.begin() + at);
      at += end - begin;
    }
  }
  sortWithin(all, 0, order);
  return all;
}

WithinRadius joinQueries(std::vector<WithinRadius> parts) {
  WithinRadius all = std::move(parts.front());
  for (size_t p = 1; p < parts.size(); ++p) {
    const int64_t before = all.starts.back();
    for (size_t q = 1; q < parts[p].starts.size(); ++q)
      all.starts.push_back(before + parts[p].starts[q]);
    all.ids.insert(all.ids.end(), parts[p].ids.begin(), parts[p].ids.end());
    all.distances.insert(all.distances.end(), parts[p].distances.begin(), parts[p].distances.end());
  }
  return all;
}

WithinRadius searchRadiusInRows(Backend &backend, const MatrixView &rows, const StorePiece &store,
                                const RowPieces &pieces, const MetricView &metric,
                                const BoundCaptures &captures, const MatrixView &queries,
                                float radius, int64_t mostResults, const SearchParams &params,
                                SearchStats *stats) {
  std::vector<WithinRadius> found;
  int64_t results = 0;
  SearchStats cost;
  PieceWalk walk(rows, store, pieces, 1, params,
                 [&](const RowStore &piece, const SearchParams &ofPiece) {
                   SearchStats one;
                   try {
                     found.push_back(backend.searchRadius(piece, metric, captures, queries, radius,
                                                          mostResults - results, ofPiece,
                                                          stats ? &one : nullptr));
                   } catch (const TooManyResults &error) {
                     throw TooManyResults(results + error.found, mostResults);
                   }
                   results += found.back().starts.back();
                   addPieceCost(cost, one);
                 });
  walk.walk(walk.pieces());
  if (stats) {
    *stats = cost;
    tellPassing(*stats, params, rows.rows, queries.rows);
  }
  if (found.size() == 1)
    return std::move(found.front());
  return joinRows(found, queries.rows, metric.artifact.manifest.order);
}

} // namespace annudf::runtime
