//===- Repeated.cpp - What repeats a search -------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Repeated.h"

#include "../../kernels/Orders.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/Error.h"
#include "engine/SearchOnce.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace annudf::runtime {
namespace {

/// Neighbours that a search within a radius asks for first.
constexpr int64_t kFirst = 64;

/// How many of one query's results are within the radius; they come first, as results are in order.
int64_t within(const Found &found, int64_t query, int64_t k, bool isMin, float radius) {
  const int64_t *ids = found.ids.data() + query * k;
  const float *distances = found.distances.data() + query * k;
  int64_t count = 0;
  while (count < k && ids[count] >= 0 &&
         (isMin ? distances[count] <= radius : distances[count] >= radius))
    ++count;
  return count;
}

} // namespace

void addCost(SearchStats &to, const SearchStats &cost) {
  to.linkMs += cost.linkMs, to.links += cost.links;
  to.diskHits += cost.diskHits;
  if (!cost.fault.empty())
    to.fault = cost.fault;
  to.uploadMs += cost.uploadMs, to.searchMs += cost.searchMs;
  to.family = cost.family, to.why = cost.why, to.slow = cost.slow;
  to.passingShare = cost.passingShare;
  to.workspaceBytes = std::max(to.workspaceBytes, cost.workspaceBytes);
  for (const StageTime &stage : cost.stages)
    addStage(to.stages, stage.name, stage.ms);
  to.rowsPerQuery += cost.rowsPerQuery;
  to.evaluatedPerQuery += cost.evaluatedPerQuery;
  to.addPairs(cost);
}

RadiusNeighbors radiusNeighbors(Backend &backend, const RowStore &index, const MetricView &metric,
                                const BoundCaptures &captures, const MatrixView &queries,
                                float radius, const SearchParams &params, SearchStats *stats) {
  if (std::isnan(radius))
    throw ArgumentError(ErrorKind::Usage,
                        {"radius", "nan", "a number that distances can be compared with"},
                        " is nan, it must be a number that distances can be compared with");
  const bool isMin = !annudf_kernels::isLargestBest(metric.artifact.manifest.order);
  const int64_t most = std::min<int64_t>(index.size(), ANNUDF_MAX_K);
  int64_t k = std::clamp<int64_t>(most, 1, kFirst);
  std::vector<int64_t> counts(static_cast<size_t>(std::max<int64_t>(queries.rows, 0)));
  for (;; k = std::min(4 * k, most)) {
    const Found found =
        searchOnce(backend, index, metric, captures, queries, static_cast<int>(k), params, stats);
    for (int64_t q = 0; q < queries.rows; ++q)
      counts[static_cast<size_t>(q)] = within(found, q, k, isMin, radius);
    if (k < most && std::find(counts.begin(), counts.end(), k) != counts.end())
      continue; // There may be more than these.
    RadiusNeighbors result;
    for (int64_t q = 0; q < queries.rows; ++q) {
      const int64_t count = counts[static_cast<size_t>(q)];
      result.offsets.push_back(result.offsets.back() + count);
      const auto ids = found.ids.begin() + q * k;
      result.ids.insert(result.ids.end(), ids, ids + count);
      const auto distances = found.distances.begin() + q * k;
      result.distances.insert(result.distances.end(), distances, distances + count);
    }
    return result;
  }
}

} // namespace annudf::runtime
