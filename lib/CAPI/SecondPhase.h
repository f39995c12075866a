//===- SecondPhase.h - Searches in two phases, in the C API -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_SECONDPHASE_H
#define ANNUDF_LIB_CAPI_SECONDPHASE_H

#include "Goal.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annudf::capi {

/// What the options of a search say of a second metric.
class SecondPhase {
public:
  /// \param queries  of the whole search.
  SecondPhase(const Call &call, const annudf_ivf_flat_search_options *options, int64_t queries);

  /// The search, which gives the k best by the second metric of what `first` finds, if there is
  /// one.
  /// \param index  that is searched; it and this live as long as the search.
  Goal::Search after(Goal::Search first, annudf_backend &backend, const runtime::RowStore &index);
  /// The order of the results.
  annudf_order orderOr(const annudf_artifact &first) const {
    return (given_ ? *given_->artifact : first).value.manifest.order;
  }
  /// As GoalSearch::full, which searches then fill; null if nobody asks.
  const std::vector<uint8_t> *full(bool asked) {
    tellsFull_ = given_ && asked;
    return tellsFull_ ? &full_ : nullptr;
  }
  /// Tells what the second phase cost.
  void finish() const;

private:
  void search(const Goal::Search &first, annudf_backend &backend, const runtime::RowStore &index,
              const Arguments &arguments, int64_t *ids, float *distances,
              runtime::SearchStats *stats);

  std::optional<annudf_second_phase> given_;
  const int64_t queries_;
  bool tellsFull_ = false;
  std::vector<uint8_t> full_;
  std::string origin_;
  runtime::SearchStats cost_;
};

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_SECONDPHASE_H
