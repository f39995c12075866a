//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What repeats a search: all rows within a radius.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_REPEATED_H
#define ANNUDF_RUNTIME_ENGINE_REPEATED_H

#include "annudf/runtime/engine/Search.h"

#include <cstdint>
#include <vector>

namespace annudf::runtime {

/// Adds what one of several searches cost; what kernels ran is that of the last.
void addCost(SearchStats &to, const SearchStats &cost);

/// Neighbours of queries that have different numbers of them: those of query q are
/// [offsets[q], offsets[q + 1]), the best first.
struct RadiusNeighbors {
  std::vector<int64_t> offsets = {0};
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

/// All rows whose distance is no worse than `radius`, among each query's candidates. It
/// searches with a larger k until no query's last neighbour is within the radius, so it takes room
/// for up to four times as many results a query as the query with the most has.
/// \param stats  may be null; times and links of all its searches.
/// \throws as Backend::search, and Error(Usage) for a radius that is NaN.
RadiusNeighbors radiusNeighbors(Backend &backend, const RowStore &index, const MetricView &metric,
                                const BoundCaptures &captures, const MatrixView &queries,
                                float radius, const SearchParams &params,
                                SearchStats *stats = nullptr);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_REPEATED_H
