//===- Survivors.cpp - Rows that bounds do not rule out -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Survivors.h"

#include <algorithm>
#include <utility>

namespace annudf::runtime::cpu {

Survivors::Survivors(int64_t queries, int k, int64_t rows, Widen widen)
    : k_(k), capacity_(capacityFor(k, rows)), widen_(std::move(widen)), queries_(size_t(queries)),
      rows_(new Row[size_t(queries * capacity_)]) {}

Survivors::Survivors(const std::vector<float> &limits)
    : k_(std::numeric_limits<int>::max()), capacity_(kWaiting), queries_(limits.size()),
      rows_(new Row[limits.size() * size_t(kWaiting)]) {
  for (size_t q = 0; q < limits.size(); ++q)
    queries_[q].limit.store(limits[q], std::memory_order_relaxed);
}

/// \return the limit that these rows give, beyond which none is kept.
float Survivors::prune(Row *begin, int32_t &count, float limit) const {
  if (count < k_)
    return limit;
  Row *const end = begin + count;
  std::nth_element(begin, begin + (k_ - 1), end,
                   [](const Row &a, const Row &b) { return a.upper < b.upper; });
  if (const float upper = begin[k_ - 1].upper; upper < limit)
    limit = std::min(limit, widen_ ? widen_(upper) : upper);
  count = int32_t(std::remove_if(begin, end, [=](const Row &row) { return row.lower > limit; }) -
                  begin);
  return limit;
}

void Survivors::tighten(int64_t q) {
  Query &query = queries_[size_t(q)];
  const SpinLock lock(query.busy);
  query.limit.store(prune(&rows_[size_t(q * capacity_)], query.count,
                          query.limit.load(std::memory_order_relaxed)),
                    std::memory_order_relaxed);
}

std::span<Survivors::Row> Survivors::rest(int64_t q) {
  tighten(q);
  return {&rows_[size_t(q * capacity_)], size_t(queries_[size_t(q)].count)};
}

} // namespace annudf::runtime::cpu
