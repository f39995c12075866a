//===- Radius.h - What every search by radius does --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_RADIUS_H
#define ANNUDF_RUNTIME_ENGINE_RADIUS_H

#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/engine/SearchRows.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace annudf::runtime {

/// Results of a query that costs and batches are planned for, as nobody knows how many there are.
inline constexpr int kPlannedResults = 64;

/// More rows are within a radius than a search may find.
class TooManyResults : public ArgumentError {
public:
  /// \param found  before the search stopped; there may be more.
  TooManyResults(int64_t found, int64_t most);
  const int64_t found;
};

/// A row within a radius. The row with the smaller key is better, and the smaller id where
/// keys are equal.
struct RowWithin {
  int64_t id;
  float key;
  bool operator<(const RowWithin &other) const {
    return key < other.key || (key == other.key && id < other.id);
  }
};

/// Distances as such keys. -0 becomes 0, so that all backends give the same bits.
class RadiusKeys {
public:
  explicit RadiusKeys(annudf_order order);
  float keyOf(float distance) const { return sign_ * distance + 0.0f; }
  float distanceOf(float key) const { return sign_ * key + 0.0f; }

private:
  const float sign_;
};

/// Sorts the rows of one query and writes them to its places in the results.
inline void writeSorted(RowWithin *begin, RowWithin *end, const RadiusKeys &keys, int64_t *ids,
                        float *distances) {
  std::sort(begin, end);
  for (; begin != end; ++begin)
    *ids++ = begin->id, *distances++ = keys.distanceOf(begin->key);
}

/// Sorts the results of queries from `first` on, each query's by itself.
void sortWithin(WithinRadius &found, size_t first, annudf_order order);
/// The same of `queries` alone, which are counted from `first` on.
void sortWithin(WithinRadius &found, size_t first, std::span<const uint32_t> queries,
                annudf_order order);

/// What several searches of the same queries have found of different rows.
WithinRadius joinRows(const std::vector<WithinRadius> &pieces, int64_t queries, annudf_order order);

/// What searches of one part of the queries after the other have found.
WithinRadius joinQueries(std::vector<WithinRadius> parts);

/// The rule of mostResults for callers. \returns `given`, or for 0 ANNUDF_DEFAULT_MAX_RESULTS.
int64_t checkMostResults(int64_t given);

/// Checks what Backend::searchRadius is called with. \throws Error(Usage or Input) as checkSearch,
/// and Error(Usage) for a radius that is NaN.
void checkRadius(const RowStore &index, const MetricView &metric, const MatrixView &queries,
                 float radius, const SearchParams &params);

/// The rows of a caller within a radius; pieces are stored and searched one after the other.
/// \param pieces  as of searchRows. Else as Backend::searchRadius.
WithinRadius searchRadiusInRows(Backend &backend, const MatrixView &rows, const StorePiece &store,
                                const RowPieces &pieces, const MetricView &metric,
                                const BoundCaptures &captures, const MatrixView &queries,
                                float radius, int64_t mostResults, const SearchParams &params,
                                SearchStats *stats = nullptr);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_RADIUS_H
