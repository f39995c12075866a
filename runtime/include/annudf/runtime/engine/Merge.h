//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The k best of several partial results: of shards, or of pieces of rows.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_MERGE_H
#define ANNUDF_RUNTIME_ENGINE_MERGE_H

#include "annudf/ABI/annudf_abi.h"

#include <cstdint>
#include <span>

namespace annudf::runtime {

/// What several searches have found for the same queries.
struct PartialResults {
  const int64_t *ids = nullptr; ///< parts x queries x k, in any order within k.
  const float *distances = nullptr;
  int64_t parts = 0, queries = 0, k = 0;
  annudf_order order = ANNUDF_ORDER_MIN;
  /// Added to the ids of each part, 0 or above; empty: ids are as they are. In host memory.
  std::span<const int64_t> translations = {};
};

/// Checks all but the memory and what it holds.
/// \param k  of the result.
/// \throws Error(Usage) naming value and limit.
void checkMerge(const PartialResults &from, int64_t k);

/// The k best of all parts for each query, best first; equal distances (-0 equals +0) are ordered
/// by id, the lower first. An id below 0 and a NaN distance are no result. Where there are fewer
/// than k the rest has the id -1 and the worst value (+inf for order min, -inf for max). An id that
/// several parts have is in the result as often. Everything is in host memory.
/// \param ids, distances  queries x k, apart from what `from` has.
/// \param threads  0: all cores.
/// \throws Error(Input) for an id that its translation takes beyond INT64_MAX.
void mergeParts(const PartialResults &from, int64_t k, int64_t *ids, float *distances,
                int threads = 0);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_MERGE_H
