//===- Repeated.cpp - What repeats a search -------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Repeated.h"

#include "../../kernels/Orders.h"
#include "annudf/Support/Error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

namespace annudf::runtime {
namespace {

/// Neighbours that a search within a radius asks for first.
constexpr int64_t kFirst = 64;

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

Found searchOnce(Backend &backend, const Index &index, const MetricView &metric,
                 const BoundCaptures &captures, const MatrixView &queries, int k,
                 const SearchParams &params, SearchStats *stats) {
  checkSearch(index, metric, queries, k, params); // Before there is room for what it finds.
  Found found;
  found.ids.resize(static_cast<size_t>(queries.rows) * static_cast<size_t>(k));
  found.distances.resize(found.ids.size());
  SearchStats cost;
  backend.search(index, metric, captures, queries, k, params, found.ids.data(),
                 found.distances.data(), &cost);
  if (stats)
    addCost(*stats, cost);
  return found;
}

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

/// The ids of each query in order, so that two of them can be compared.
void sortIds(Found &found, int64_t queries, int k) {
  for (int64_t q = 0; q < queries; ++q)
    std::sort(found.ids.begin() + q * k, found.ids.begin() + (q + 1) * k);
}

/// A row as near as the last true neighbour counts as one: which of such rows is in the truth,
/// their ids decide. \pre the ids are sorted, the distances are not.
int64_t hits(const Found &truth, const Found &found, int64_t queries, int k, bool isMin) {
  const auto isRow = [](int64_t id) { return id >= 0; };
  int64_t total = 0;
  std::vector<int64_t> both;
  for (int64_t q = 0; q < queries; ++q) {
    const auto trueIds = truth.ids.begin() + q * k, ids = found.ids.begin() + q * k;
    both.clear();
    std::set_intersection(trueIds, trueIds + k, ids, ids + k, std::back_inserter(both));
    const int64_t same = std::count_if(both.begin(), both.end(), isRow);
    const int64_t most = std::count_if(trueIds, trueIds + k, isRow);
    if (same < most) { // Kernels may differ in the last digit of a distance.
      const float last = truth.distances[static_cast<size_t>(q * k + most - 1)];
      const auto distances = found.distances.begin() + q * k;
      const int64_t near =
          std::count_if(distances, distances + std::count_if(ids, ids + k, isRow),
                        [&](float one) { return isMin ? one <= last : one >= last; });
      total += std::clamp(near, same, most);
    } else {
      total += same;
    }
  }
  return total;
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

RadiusNeighbors radiusNeighbors(Backend &backend, const Index &index, const MetricView &metric,
                                const BoundCaptures &captures, const MatrixView &queries,
                                float radius, const SearchParams &params, SearchStats *stats) {
  if (std::isnan(radius))
    throw Error(ErrorKind::Usage,
                "radius is NaN; it must be a number that distances can be compared with");
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

uint32_t tuneProbes(Backend &backend, const Index &index, const MetricView &metric,
                    const BoundCaptures &captures, const MatrixView &queries, int k, double recall,
                    const SearchParams &params, SearchStats *stats) {
  if (!(recall > 0 && recall <= 1))
    throw Error(ErrorKind::Usage,
                "recall = " + std::to_string(recall) + ": must be above 0 and at most 1");
  const auto found = [&](uint32_t probes) {
    SearchParams some = params;
    some.nProbes = probes;
    Found one = searchOnce(backend, index, metric, captures, queries, k, some, stats);
    sortIds(one, queries.rows, k);
    return one;
  };
  const uint32_t lists = index.nLists();
  const bool isMin = !annudf_kernels::isLargestBest(metric.artifact.manifest.order);
  const Found truth = found(lists);
  const auto total = static_cast<double>(hits(truth, truth, queries.rows, k, isMin));
  const auto enough = [&](uint32_t probes) {
    return static_cast<double>(hits(truth, found(probes), queries.rows, k, isMin)) >=
           recall * total;
  };
  uint32_t low = 0, high = 1;
  while (high < lists && !enough(high))
    low = high, high = std::min(2 * high, lists);
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace annudf::runtime
