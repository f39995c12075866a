//===- Tune.cpp - The probes that a recall needs --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/ivf_flat/Tune.h"

#include "../../kernels/Orders.h"
#include "annudf/Support/Error.h"
#include "engine/SearchOnce.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

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

uint32_t tuneProbes(Backend &backend, const Index &index, const MetricView &metric,
                    const BoundCaptures &captures, const MatrixView &queries, int k, double recall,
                    const SearchParams &params, SearchStats *stats) {
  if (!(recall > 0 && recall <= 1))
    throw Error(ErrorKind::Usage,
                "recall = " + std::to_string(recall) + ": must be above 0 and at most 1");
  const auto found = [&](uint32_t probes) {
    SearchParams some = params;
    some.candidates = index.candidates({probes});
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
