//===- RowsWithin.h - The rows within a radius of each query ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_ROWSWITHIN_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_ROWSWITHIN_H

#include "SpinLock.h"

#include "annudf/runtime/engine/Radius.h"
#include "annudf/runtime/support/Parallel.h"
#include "kernels/Orders.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace annudf::runtime::cpu {

/// A class of results beside those of Results.h, whose limit never changes: the radius.
class RowsWithin {
public:
  /// \param most   results of all queries.
  /// \param found  where they go; those of a batch behind those of the batches before.
  RowsWithin(float radius, int64_t most, annudf_order order, int64_t rows, WithinRadius &found)
      : radius_(radius), most_(most), keys_(order),
        nothing_(annudf_kernels::isLargestBest(order) ? kInfinity : -kInfinity),
        planned_(radius == -nothing_ ? int(std::min<int64_t>(rows, ANNUDF_MAX_K))
                                     : kPlannedResults),
        found_(found) {
    found_ = {{0}, {}, {}};
  }

  static constexpr bool kLeavesOut = true;
  static constexpr bool kIsRadius = true; ///< Whether the limit is known before any distance.
  /// All rows, where every number is within the radius: then no bound rules a row out.
  int selected() const { return planned_; }
  void begin(int64_t, int64_t size, int) { queries_ = std::vector<Query>(size_t(size)); }
  /// Nothing more is taken: the results are too many, or there is no memory.
  bool isFull() const { return isFull_.load(std::memory_order_relaxed); }
  float limit(int64_t) const { return isFull() ? nothing_ : radius_; }
  /// A scan that calls it cannot pass an exception on, so finish() throws.
  float take(int64_t query, const int64_t *ids, const float *distances, uint32_t mask) noexcept {
    const int64_t more = std::popcount(mask);
    if (total_.fetch_add(more, std::memory_order_relaxed) + more > most_) {
      isFull_.store(true, std::memory_order_relaxed);
      return nothing_;
    }
    Query &of = queries_[size_t(query)];
    const SpinLock lock(of.busy);
    try {
      for (; mask != 0; mask &= mask - 1) {
        const int row = std::countr_zero(mask);
        of.rows.push_back({ids[row], keys_.keyOf(distances[row])});
      }
    } catch (const std::bad_alloc &) {
      isOutOfMemory_.store(true, std::memory_order_relaxed);
      isFull_.store(true, std::memory_order_relaxed);
      return nothing_;
    }
    return radius_;
  }
  float tighten(int64_t query) { return limit(query); }
  void finish(int threads) {
    if (isOutOfMemory_)
      throw std::bad_alloc();
    if (isFull())
      throw TooManyResults(total_, most_);
    const auto first = found_.starts.size() - 1;
    for (const Query &query : queries_)
      found_.starts.push_back(found_.starts.back() + int64_t(query.rows.size()));
    found_.ids.resize(size_t(found_.starts.back()));
    found_.distances.resize(found_.ids.size());
    constexpr int64_t kTogether = 64;
    const auto size = int64_t(queries_.size());
    parallelFor(threads, (size + kTogether - 1) / kTogether, [&](int64_t t, int) {
      for (int64_t q = t * kTogether; q < std::min(size, (t + 1) * kTogether); ++q) {
        std::vector<RowWithin> rows = std::move(queries_[size_t(q)].rows);
        const int64_t at = found_.starts[first + size_t(q)];
        writeSorted(rows.data(), rows.data() + rows.size(), keys_, found_.ids.data() + at,
                    found_.distances.data() + at);
      }
    });
  }

private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Query {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::vector<RowWithin> rows;
  };

  const float radius_;
  const int64_t most_;
  const RadiusKeys keys_;
  const float nothing_; ///< A limit that only this distance itself reaches.
  const int planned_;
  WithinRadius &found_;
  std::atomic<int64_t> total_ = 0;
  std::atomic<bool> isFull_ = false, isOutOfMemory_ = false;
  std::vector<Query> queries_; ///< The batch's.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_ROWSWITHIN_H
