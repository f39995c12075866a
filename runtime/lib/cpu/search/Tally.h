//===- Tally.h - Pairs that a search scored -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_TALLY_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_TALLY_H

#include "annudf/runtime/engine/Search.h"
#include "kernels/cpu/ScanArgs.h"

#include <atomic>
#include <bit>
#include <mutex>

namespace annudf::runtime::cpu {

/// Counts the pairs of one search; from any thread.
class Tally {
public:
  /// The rows of a scan that its filter lets pass, for each of its queries.
  void scored(const annudf_cpu_scan &scan) {
    if (scan.queryPass)
      return scoredByQuery(scan);
    int64_t rows = scan.size;
    if (scan.pass) {
      rows = 0;
      for (int64_t group = 0; group * ANNUDF_CPU_GROUP_ROWS < scan.size; ++group)
        rows += std::popcount(scan.pass[group]);
    }
    pairs_.fetch_add(rows * scan.queries, std::memory_order_relaxed);
  }

  /// What scans meet that hold it, until it goes.
  struct Nan : annudf_cpu_nan {
    explicit Nan(Tally &tally) : annudf_cpu_nan{}, tally(tally) {}
    ~Nan() {
      if (count != 0)
        tally.add(*this);
    }
    Nan(const Nan &) = delete;
    Nan &operator=(const Nan &) = delete;
    Tally &tally;
  };

  /// The share of pairs that a predicate let pass; 1 if none was asked.
  double passingShare() const { return asked_ == 0 ? 1 : double(pairs_) / double(asked_); }

  /// Once nothing is added any more.
  void report(SearchStats &stats) const {
    stats.scored = pairs_;
    stats.nanDistances = nan_.count;
    if (nan_.count != 0)
      stats.nanQuery = nan_.query, stats.nanRow = nan_.id;
  }

private:
  void scoredByQuery(const annudf_cpu_scan &scan) {
    int64_t pairs = 0;
    const uint32_t *word = scan.queryPass;
    for (int64_t group = 0; group * ANNUDF_CPU_GROUP_ROWS < scan.size; ++group) {
      const uint32_t all = scan.pass ? scan.pass[group] : ~uint32_t(0);
      for (int32_t q = 0; q < scan.queries; ++q)
        pairs += std::popcount(*word++ & all);
    }
    pairs_.fetch_add(pairs, std::memory_order_relaxed);
    asked_.fetch_add(scan.size * scan.queries, std::memory_order_relaxed);
  }

  /// The example is that of the first query, whatever the order in which threads are done.
  void add(const annudf_cpu_nan &more) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (nan_.count == 0 || more.query < nan_.query ||
        (more.query == nan_.query && more.id < nan_.id))
      nan_.query = more.query, nan_.id = more.id;
    nan_.count += more.count;
  }

  std::atomic<int64_t> pairs_ = 0, asked_ = 0; ///< The latter before a predicate.
  std::mutex mutex_;
  annudf_cpu_nan nan_{};
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_TALLY_H
