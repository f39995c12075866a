//===- TopK.h - The best rows of each query, shared by threads -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_TOPK_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_TOPK_H

#include "annudf/ABI/annudf_abi.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace annudf::runtime::cpu {

/// A buffer of somewhat more than 2k candidates a query; when it is full the k best
/// stay. That costs O(1) a candidate for any k, where a heap costs log k. Equal
/// distances are ordered by id, so the result does not depend on who came first.
class TopK {
public:
  /// \param rows  most rows that are added for one query; no room is taken for more.
  TopK(int64_t queries, int k, annudf_order order, int64_t rows);

  /// The worst distance the query still takes.
  float limit(int64_t query) const;

  /// Adds the rows of a group whose bit is set; distances are not NaN. From any thread.
  /// \return limit(query) from now on.
  float add(int64_t query, const int64_t *ids, const float *distances, uint32_t mask) noexcept;

  /// Lowers the limit to the k-th of what was added, which add() does only now and then.
  /// \return limit(query) from now on.
  float tighten(int64_t query) noexcept;

  /// Writes the k best, best first; see Backend::search for what fills the rest.
  /// Once for each query, after the last add.
  void finish(int64_t query, int64_t *ids, float *distances);

  /// Bytes one query takes.
  static int64_t bytesPerQuery(int k, int64_t rows);

private:
  /// The smallest key is best: the distance, negated for order max.
  struct Candidate {
    float key;
    int64_t id;
    bool operator<(const Candidate &other) const {
      return key < other.key || (key == other.key && id < other.id);
    }
  };
  struct Query {
    std::atomic<float> limit; ///< As a key.
    int64_t count = 0;
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
  };
  /// With room for one more than all rows nothing is ever left out.
  static int64_t capacityFor(int64_t k, int64_t rows) {
    return std::min(2 * k + 16, std::max(k, rows) + 1);
  }

  const int k_;
  const int64_t capacity_; ///< For one query's candidates.
  const float sign_;
  std::vector<Query> queries_;
  std::unique_ptr<Candidate[]> candidates_; ///< queries x capacity_, uninitialised.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_TOPK_H
