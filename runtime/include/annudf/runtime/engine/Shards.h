//===- Shards.h - Parts of a store for several devices ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store is cut into shards, which together have its rows. Each shard has all lists and centers,
// and about an equal share of every list, so that a query probes the same lists in all of them. Ids
// and columns are those of the store.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_SHARDS_H
#define ANNUDF_RUNTIME_ENGINE_SHARDS_H

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/rows/RowStore.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace annudf::runtime {

/// Groups of a list that a shard has.
struct ShardGroups {
  int64_t first, count;
};

/// Consecutive groups of a list of so many that shard `number` of `shards` has. Groups that are
/// left over go to shards in turn, from list to list, so that many short lists are spread as well.
ShardGroups groupsOfShard(int64_t groups, uint32_t list, int number, int shards);

/// One of them. Its words are the store's own.
class Shard final : public RowStore {
public:
  Shard(const RowStore &whole, int number, int shards);
  int64_t rowsOfWhole() const override { return rowsOfWhole_; }
  const ListCenters *listCenters() const override { return isRanked_ ? &centers_ : nullptr; }
  std::vector<float> meanOfRows() const override { return mean_; }

private:
  void takeColumns(const RowStore &whole, int number, int shards);

  ListCenters centers_;
  std::vector<float> mean_;
  bool isRanked_;
  int64_t rowsOfWhole_;
};

/// All shards of one state of a store; an attachment of it. Immutable.
class Shards : public IndexAttachment {
public:
  /// Made where there are none of this number, of these lists and columns. Lists that are elsewhere
  /// come to the host.
  /// \pre 1 <= shards; the store does not hold candidates.
  static std::shared_ptr<const Shards> of(const RowStore &whole, int shards);
  Shards(const RowStore &whole, int shards);

  int count() const { return static_cast<int>(shards_.size()); }
  const Shard &operator[](int number) const { return *shards_[static_cast<size_t>(number)]; }
  /// The shard that has a slot of the whole (SlotsOfIds.h).
  int ofSlot(int64_t slot) const;

private:
  bool isOf(const RowStore &whole) const;

  std::vector<std::unique_ptr<const Shard>> shards_;
  std::vector<int64_t> firstGroups_; ///< The first group of each list, and the number of groups.
  std::weak_ptr<const void> lists_;  ///< What the words belong to.
  uint64_t columnsNumber_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_SHARDS_H
