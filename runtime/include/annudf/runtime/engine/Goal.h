//===- Goal.h - What a query must find before it is done --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search probes a given number of lists and gives the k best rows. A goal says when a query is
// done: queries that found too few rows are searched again in more lists, and queries whose rows
// are in too few groups are searched again for more rows.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_GOAL_H
#define ANNUDF_RUNTIME_ENGINE_GOAL_H

#include "annudf/runtime/engine/QueryPart.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace annudf::runtime {

/// The group of each row, by its id.
struct RowGroups {
  const int64_t *ofId;
  int64_t ids; ///< Entries.
};

struct SearchGoal {
  /// A query that has not found enough is searched again in twice as many lists, until it has
  /// searched maxProbes lists. With a filter of bits it begins with the probes divided by the share
  /// of rows that pass. 0: no query is searched again.
  int64_t maxProbes = 0;
  /// Rows that a query must find in its lists before it is done; it still gives only the k best.
  /// 0: k.
  int64_t minRows = 0;
  /// Each result is the best row of its group, and a query must find k groups.
  std::optional<RowGroups> groups = {};

  bool isSet() const { return maxProbes != 0 || minRows != 0 || groups; }
};

/// \param nProbes  no more than the index has lists.
/// \throws ArgumentError(Usage) for numbers below 0, max_probes below n_probes, and min_rows
/// without max_probes.
void checkGoal(const SearchGoal &goal, int64_t nProbes);

/// \param rowExtent  one more than the largest id.
/// \throws ArgumentError(Usage) unless every row has a group.
void checkGroups(const RowGroups &groups, int64_t rowExtent);

/// Results that are in memory at once, about.
inline constexpr int64_t kMostResults = int64_t(1) << 23;

/// Gives the k best of each of these queries, in host memory.
using SearchOfPart = std::function<void(const QueryPart &part, int k, const SearchParams &params,
                                        int64_t *ids, float *distances, SearchStats *stats)>;

/// What is searched.
struct GoalSearch {
  int64_t queries;
  int64_t rows; ///< The index's.
  uint32_t lists;
  annudf_order order;
  /// Queries that a search takes in the time that beginning another search takes.
  int64_t queriesOfACall = 1;
  /// If not null, each search tells there of each of its queries whether it found as many rows as
  /// it looked for, not all of which it need give: others were NaN to a second metric.
  const std::vector<uint8_t> *full = nullptr;
};

/// What is searched: all rows of a store.
GoalSearch goalSearchOf(const Backend &backend, const RowStore &index, const MetricView &metric,
                        int64_t queries);
/// Some microseconds of a CPU, or some kernels of a GPU.
int64_t queriesOfACall(const Backend &backend);

/// Searches until each query has reached the goal or has searched maxProbes lists. The results of a
/// query are those of a search for it alone, with its last number of lists.
/// \param k         of each query, at most `rows`.
/// \param params    of the whole search.
/// \param ids, distances  queries x k, in host memory.
/// \param stats     may be null; rows that a query scanned again count again.
void searchToGoal(const GoalSearch &of, int k, const SearchParams &params, const SearchGoal &goal,
                  const SearchOfPart &search, int64_t *ids, float *distances, SearchStats *stats);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_GOAL_H
