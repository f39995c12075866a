//===- Balance.cpp - Lists of about equal size ----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Balance.h"

#include <algorithm>
#include <numeric>

namespace annudf::runtime {

void Balance::noteWholes(const std::vector<int64_t> &sizes) {
  for (const auto &[a, b] : halved_) {
    const auto [smaller, larger] = sizes[a] < sizes[b] ? std::pair(a, b) : std::pair(b, a);
    if (sizes[smaller] * kCameApart < sizes[a] + sizes[b])
      whole_[larger] = true;
  }
  halved_.clear();
}

uint32_t Balance::after(uint32_t round, const std::vector<int64_t> &sizes, float *centers,
                        int32_t dims, int64_t stride) {
  noteWholes(sizes);
  const auto lists = static_cast<uint32_t>(sizes.size());
  const bool settling = round + kSettle >= rounds_;
  const double mean = double(rows_) / lists;
  const double small = settling ? 1 : std::max(1.0, kSmall * mean);
  const double large = settling ? 2 : std::max(2.0, kLarge * mean);
  std::vector<uint32_t> order(lists);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(sizes[a], a) < std::pair(sizes[b], b);
  });
  // The largest to the smallest, each once; where lists are empty, those of two rows too, and again
  // as often as their rows can be parted.
  size_t next = lists;
  uint32_t pass = 0, moved = 0;
  const auto isWorth = [&](uint32_t list, bool empty) {
    return !whole_[list] && (empty ? sizes[list] >> pass >= 2 : double(sizes[list]) >= large);
  };
  for (const uint32_t into : order) {
    const bool empty = sizes[into] == 0;
    if (double(sizes[into]) >= small)
      break;
    const auto skip = [&] { // To the next that is worth it, if there is one.
      while (next > 0 && whole_[order[next - 1]])
        --next;
      return next > 0 && isWorth(order[next - 1], empty);
    };
    bool found = skip();
    if (!found && empty) {
      next = lists, ++pass;
      found = skip();
    }
    if (!found)
      break;
    const uint32_t full = order[--next];
    float *from = centers + full * stride, *to = centers + into * stride;
    // As FAISS does with empty lists: the rounds that follow part the rows.
    constexpr float kStep = 1.0f / 1024;
    for (int32_t d = 0; d < dims; ++d) {
      const float value = from[d], step = d % 2 == 0 ? kStep : -kStep;
      to[d] = value * (1 + step);
      from[d] = value * (1 - step);
    }
    if (pass == 0)
      halved_.emplace_back(full, into);
    ++moved;
  }
  return moved;
}

} // namespace annudf::runtime
