//===- Shards.cpp - Parts of a store for several devices --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Shards.h"

#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <string>

namespace annudf::runtime {

ShardGroups groupsOfShard(int64_t groups, uint32_t list, int number, int shards) {
  // Kernels take 4 groups at once, so few shards end within 4.
  constexpr int64_t kAtOnce = 4;
  const int64_t unit = groups >= 2 * kAtOnce * shards ? kAtOnce : 1,
                units = (groups + unit - 1) / unit;
  // Shard `turn` of this list is the first that gets one of the units left over.
  const int64_t each = units / shards, over = units % shards,
                turn = (number + list) % uint32_t(shards);
  const auto before = [&](int64_t turns) {
    return std::min(groups, (turns * each + std::min(turns, over)) * unit);
  };
  return {before(turn), before(turn + 1) - before(turn)};
}

Shard::Shard(const RowStore &whole, int number, int shards)
    : mean_(whole.meanOfRows()), isRanked_(whole.listCenters() != nullptr),
      rowsOfWhole_(whole.rowsOfWhole()) {
  if (isRanked_)
    centers_ = *whole.listCenters();
  element_ = whole.element(), dims_ = whole.dims(), missing_ = whole.missingValues();
  largestId_ = whole.largestId(); // What captures by id must reach is that of the whole.
  isMapped_ = whole.isMapped(), threads_ = whole.threads();
  generation_ = nextGeneration();
  lists_.resize(whole.nLists());
  const std::vector<List> &all = whole.lists();
  const int64_t words = whole.words() * int64_t(kGroupRows);
  parallelFor(threads_, whole.nLists(), [&](int64_t l, int) {
    const List &from = all[size_t(l)];
    const ShardGroups part = groupsOfShard(from.groups(), uint32_t(l), number, shards);
    List &list = lists_[size_t(l)];
    if (part.count == 0)
      return;
    list.size =
        std::min(from.size, (part.first + part.count) * kGroupRows) - part.first * kGroupRows;
    const auto count = size_t(part.count * words);
    list.words =
        ListWords(count, ListWords::allocator_type(from.words.data() + part.first * words, count));
    list.ids.assign(from.ids.begin() + part.first * kGroupRows,
                    from.ids.begin() + (part.first + part.count) * kGroupRows);
  });
  for (const List &list : lists_)
    size_ += list.size;
  takeColumns(whole, number, shards);
}

void Shard::takeColumns(const RowStore &whole, int number, int shards) {
  columns_ = whole.columns(), columnsNumber_ = whole.columnsNumber();
  if (columns_.empty())
    return;
  columnValues_.assign(nLists(), ListColumns(columns_.size()));
  for (uint32_t l = 0; l < nLists(); ++l) {
    const int64_t first =
        groupsOfShard(groupsOf(whole.listSize(l)), l, number, shards).first * kGroupRows;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const auto bytes = int64_t(bytesOf(columns_[c].element));
      const auto from = whole.columnsOf(l)[c].begin() + first * bytes;
      if (lists_[l].size != 0)
        columnValues_[l][c].assign(from, from + lists_[l].size * bytes);
    }
  }
}

Shards::Shards(const RowStore &whole, int shards)
    : lists_(whole.listsIdentity()), columnsNumber_(whole.columnsNumber()) {
  for (int number = 0; number < shards; ++number)
    shards_.push_back(std::make_unique<const Shard>(whole, number, shards));
  firstGroups_ = {0};
  for (uint32_t l = 0; l < whole.nLists(); ++l)
    firstGroups_.push_back(firstGroups_.back() + groupsOf(whole.listSize(l)));
}

int Shards::ofSlot(int64_t slot) const {
  const int64_t group = slot / kGroupRows;
  const auto next = std::upper_bound(firstGroups_.begin(), firstGroups_.end(), group);
  const int64_t at = group - *(next - 1), groups = *next - *(next - 1);
  const auto list = uint32_t(next - firstGroups_.begin() - 1);
  for (int number = 0;; ++number) {
    const ShardGroups part = groupsOfShard(groups, list, number, count());
    if (at >= part.first && at < part.first + part.count)
      return number;
  }
}

bool Shards::isOf(const RowStore &whole) const {
  const std::weak_ptr<const void> lists = whole.listsIdentity();
  return columnsNumber_ == whole.columnsNumber() && !lists_.owner_before(lists) &&
         !lists.owner_before(lists_);
}

std::shared_ptr<const Shards> Shards::of(const RowStore &whole, int shards) {
  const std::string key = std::to_string(shards) + " shards";
  for (;;) {
    bool made = false;
    auto found = whole.attachments().get<Shards>(
        key, [&] { return std::make_shared<Shards>(whole, shards); }, made);
    if (found->isOf(whole))
      return found;
    whole.attachments().drop(key); // Those of a copy of the store, or of fewer columns.
  }
}

} // namespace annudf::runtime
