//===- Results.h - Where what a scan finds goes --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_RESULTS_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_RESULTS_H

#include "TopK.h"

#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Parallel.h"
#include "kernels/Orders.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace annudf::runtime::cpu {

/// The k best rows of each query of a batch.
class BestRows {
public:
  BestRows(int k, annudf_order order, int64_t rows, int64_t *ids, float *distances)
      : k_(k), order_(order), rows_(rows), ids_(ids), distances_(distances) {}

  static constexpr bool kLeavesOut = true; ///< Whether most rows are none of them.
  static constexpr bool kIsRadius = false; ///< As of RowsWithin.
  int selected() const { return k_; }
  void begin(int64_t first, int64_t size, int) {
    first_ = first, size_ = size;
    best_.emplace(size, k_, order_, rows_);
  }
  float limit(int64_t query) const { return best_->limit(query); }
  float take(int64_t query, const int64_t *ids, const float *distances, uint32_t mask) {
    return best_->add(query, ids, distances, mask);
  }
  float tighten(int64_t query) { return best_->tighten(query); }
  void finish(int threads) {
    constexpr int64_t kTogether = 64;
    parallelFor(threads, (size_ + kTogether - 1) / kTogether, [&](int64_t t, int) {
      const int64_t end = std::min(size_, (t + 1) * kTogether);
      for (int64_t q = t * kTogether; q < end; ++q)
        best_->finish(q, ids_ + (first_ + q) * k_, distances_ + (first_ + q) * k_);
    });
  }

private:
  const int k_;
  const annudf_order order_;
  const int64_t rows_;
  int64_t *const ids_;
  float *const distances_;
  int64_t first_ = 0, size_ = 0;
  std::optional<TopK> best_;
};

/// The distance of every row, by its id. The scan hands over none that is NaN, so that is what
/// stands there before.
class EveryDistance {
public:
  EveryDistance(annudf_order order, int64_t rows, float *distances)
      : rows_(rows), distances_(distances),
        worst_(annudf_kernels::isLargestBest(order) ? -std::numeric_limits<float>::infinity()
                                                    : std::numeric_limits<float>::infinity()) {}

  static constexpr bool kLeavesOut = false;
  static constexpr bool kIsRadius = false;
  int selected() const { return 1; }
  void begin(int64_t first, int64_t size, int threads) {
    batch_ = distances_ + first * rows_;
    parallelFor(threads, size, [&](int64_t q, int) {
      std::fill_n(batch_ + q * rows_, rows_, std::numeric_limits<float>::quiet_NaN());
    });
  }
  float limit(int64_t) const { return worst_; }
  float take(int64_t query, const int64_t *ids, const float *distances, uint32_t mask) {
    float *row = batch_ + query * rows_;
    if (mask == ~uint32_t(0))
      for (int i = 0; i < kGroupRows; ++i)
        row[ids[i]] = distances[i];
    else
      for (; mask != 0; mask &= mask - 1)
        row[ids[__builtin_ctz(mask)]] = distances[__builtin_ctz(mask)];
    return worst_;
  }
  float tighten(int64_t) { return worst_; }
  void finish(int) {}

private:
  const int64_t rows_;
  float *const distances_;
  float *batch_ = nullptr;
  const float worst_;
};

/// What the scan hands survivors to: pairs[i] is the query of the scan's i-th.
template <class Results> struct Sink {
  Results *results;
  const int32_t *queries;
  static float take(void *sink, int32_t i, const int64_t *ids, const float *distances,
                    uint32_t mask) {
    const Sink &s = *static_cast<const Sink *>(sink);
    return s.results->take(s.queries[i], ids, distances, mask);
  }
  static float tighten(void *sink, int32_t i) {
    const Sink &s = *static_cast<const Sink *>(sink);
    return s.results->tighten(s.queries[i]);
  }
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_RESULTS_H
