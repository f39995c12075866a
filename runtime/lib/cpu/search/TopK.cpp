//===- TopK.cpp - The best rows of each query, shared by threads ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopK.h"

#include "SpinLock.h"

#include "kernels/Orders.h"

#include <algorithm>
#include <limits>

namespace annudf::runtime::cpu {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

} // namespace

TopK::TopK(int64_t queries, int k, annudf_order order, int64_t rows)
    : k_(k), capacity_(capacityFor(k, rows)),
      sign_(annudf_kernels::isLargestBest(order) ? -1.0f : 1.0f), queries_(queries),
      candidates_(new Candidate[queries * capacity_]) {
  for (Query &query : queries_)
    query.limit.store(kInfinity, std::memory_order_relaxed);
}

int64_t TopK::bytesPerQuery(int k, int64_t rows) {
  return int64_t(sizeof(Query)) + int64_t(sizeof(Candidate)) * capacityFor(k, rows);
}

float TopK::limit(int64_t query) const {
  return sign_ * queries_[query].limit.load(std::memory_order_relaxed);
}

float TopK::add(int64_t q, const int64_t *ids, const float *distances, uint32_t mask) noexcept {
  Query &query = queries_[q];
  Candidate *begin = &candidates_[q * capacity_];
  SpinLock lock(query.busy);
  float limit = query.limit.load(std::memory_order_relaxed);
  int64_t count = query.count;
  for (; mask != 0; mask &= mask - 1) {
    const int row = __builtin_ctz(mask);
    const float key = sign_ * distances[row];
    if (key > limit) // Another thread has lowered the limit since.
      continue;
    begin[count++] = {key, ids[row]};
    if (count < capacity_)
      continue;
    std::nth_element(begin, begin + (k_ - 1), begin + count);
    limit = begin[k_ - 1].key;
    count = k_;
  }
  query.count = count;
  query.limit.store(limit, std::memory_order_relaxed);
  return sign_ * limit;
}

float TopK::tighten(int64_t q) noexcept {
  Query &query = queries_[q];
  Candidate *begin = &candidates_[q * capacity_];
  SpinLock lock(query.busy);
  float limit = query.limit.load(std::memory_order_relaxed);
  if (query.count > k_ || (query.count == k_ && limit == kInfinity)) {
    std::nth_element(begin, begin + (k_ - 1), begin + query.count);
    limit = begin[k_ - 1].key;
    query.count = k_;
    query.limit.store(limit, std::memory_order_relaxed);
  }
  return sign_ * limit;
}

void TopK::finish(int64_t q, int64_t *ids, float *distances) {
  const Query &query = queries_[q];
  Candidate *begin = &candidates_[q * capacity_];
  const int64_t found = std::min<int64_t>(query.count, k_);
  std::partial_sort(begin, begin + found, begin + query.count);
  for (int64_t i = 0; i < found; ++i) {
    ids[i] = begin[i].id;
    distances[i] = sign_ * begin[i].key;
  }
  std::fill(ids + found, ids + k_, int64_t(-1));
  std::fill(distances + found, distances + k_, sign_ * kInfinity);
}

} // namespace annudf::runtime::cpu
