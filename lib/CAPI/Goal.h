//===- Goal.h - Searches with a goal, in the C API --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_GOAL_H
#define ANNUDF_LIB_CAPI_GOAL_H

#include "SearchArguments.h"

#include "annudf/runtime/engine/Goal.h"

#include <functional>
#include <memory>
#include <vector>

namespace annudf::capi {

/// What the options of a search say beyond k and probes, checked and translated.
class Goal {
public:
  Goal(const Call &call, const annudf_ivf_flat_search_options *options);

  bool hasGroups() const { return goal_.groups.has_value(); }
  /// Before a search, while the index may be read.
  /// \param nProbes  what max_probes must reach.
  void chooseFrom(const Call &call, const runtime::RowStore &index, int64_t nProbes);
  /// The same of rows that come with the call.
  void chooseFrom(const Call &call, int64_t rows);

  /// Searches for queries, k and parameters of the arguments, with results where the queries are.
  using Search = std::function<void(const Arguments &arguments, int64_t *ids, float *distances,
                                    runtime::SearchStats *stats)>;
  /// What is searched.
  struct Searched {
    int64_t rows;
    uint32_t lists;
    annudf_order order;                         ///< The results'.
    const std::vector<uint8_t> *full = nullptr; ///< As GoalSearch::full.
  };
  /// Searches until each query has reached the goal, and then waits for results on a device; once
  /// if there is none.
  void search(annudf_backend &backend, const Arguments &arguments, const Searched &of,
              const Search &search, int64_t *ids, float *distances,
              runtime::SearchStats *stats) const;

private:
  runtime::SearchGoal goal_;
  std::optional<annudf_groups> groups_;
  std::shared_ptr<const std::vector<int64_t>> column_; ///< What `goal_` points to, if by column.
};

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_GOAL_H
