//===- Survivors.h - Rows that bounds do not rule out -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row's distance lies between two bounds. Where k rows are no worse than some limit, no row that
// is worse than it is among the k best. So few rows of a query are left when all its lists have
// been looked at, and only these are computed.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_SURVIVORS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_SURVIVORS_H

#include "cpu/search/SpinLock.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace annudf::runtime::cpu {

class Survivors {
public:
  /// A row whose distance, with the sign by which the least is best, is a number in
  /// [lower, upper]. If upper is infinity nothing is known, and it may be NaN.
  struct Row {
    float lower, upper;
    uint32_t list, row;
  };

  /// Up to which lower bound a row may be as good as one that is no worse than a limit.
  using Widen = std::function<float(float limit)>;

  /// \param rows   most that are added for one query.
  /// \param widen  where what is bounded is not the distance itself, but rises with it: others may
  ///     have an equal one. Null: it is the distance.
  Survivors(int64_t queries, int k, int64_t rows, Widen widen = nullptr);
  /// Where the limit of each query is known, and no row lowers it.
  explicit Survivors(const std::vector<float> &limits);
  static int64_t bytesPerQuery(int k, int64_t rows) {
    return int64_t(sizeof(Query)) + int64_t(sizeof(Row)) * capacityFor(k, rows);
  }

  /// Rows whose lower bound is above it are not looked for.
  float limit(int64_t query) const {
    return queries_[size_t(query)].limit.load(std::memory_order_relaxed);
  }

  /// Adds rows, each once. From any thread.
  /// \param compute  float(std::span<Row>): computes rows where there is no room for more of them.
  ///     \returns the limit that the query's k-th distance gives, with the sign, or infinity.
  template <class Compute> void add(int64_t q, std::span<const Row> rows, Compute &&compute) {
    Query &query = queries_[size_t(q)];
    Row *const begin = &rows_[size_t(q * capacity_)];
    const SpinLock lock(query.busy);
    float limit = query.limit.load(std::memory_order_relaxed);
    for (const Row &row : rows) {
      if (row.lower > limit)
        continue;
      begin[query.count++] = row;
      if (query.count < capacity_)
        continue;
      limit = prune(begin, query.count, limit);
      if (query.count > capacity_ / 2) {
        limit = std::min(limit, compute(std::span(begin, size_t(query.count))));
        query.count = 0;
      }
    }
    query.limit.store(limit, std::memory_order_relaxed);
  }

  /// Lowers the limit by what was added, which add() does only now and then. From any thread.
  void tighten(int64_t query);

  /// Those that are left of a query, once nothing is added any more.
  std::span<Row> rest(int64_t query);

private:
  struct Query {
    std::atomic<float> limit = std::numeric_limits<float>::infinity();
    int32_t count = 0;
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
  };
  /// Rows of a query that wait until they are computed together, where its limit is known.
  static constexpr int64_t kWaiting = 256;
  static int64_t capacityFor(int64_t k, int64_t rows) {
    return std::min(4 * k + 24, std::max(k, rows) + 1);
  }
  float prune(Row *begin, int32_t &count, float limit) const;

  const int k_; ///< Above capacity_ where limits are known.
  const int64_t capacity_;
  const Widen widen_;
  std::vector<Query> queries_;
  std::unique_ptr<Row[]> rows_; ///< queries x capacity_, not initialised.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_SURVIVORS_H
