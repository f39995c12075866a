//===- SlotsOfIds.cpp - Which row of a store has an id --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/rows/SlotsOfIds.h"

#include "annudf/Support/ArgumentError.h"

#include <limits>
#include <string>
#include <utility>

namespace annudf::runtime {

std::vector<int64_t> firstSlotsOf(const RowStore &store) {
  std::vector<int64_t> first = {0};
  for (uint32_t l = 0; l < store.nLists(); ++l)
    first.push_back(first.back() + groupsOf(store.listSize(l)) * kGroupRows);
  return first;
}

class SlotsOfIds::Maker {
public:
  explicit Maker(const RowStore &store) : store_(store), firstSlots_(firstSlotsOf(store)) {
    if (firstSlots_.back() >= int64_t(kNone))
      throw Error(ErrorKind::Usage,
                  "the index has " + std::to_string(store.size()) +
                      " rows; those of an index of up to 4.2 billion can be ranked again, padding "
                      "included");
  }

  std::shared_ptr<SlotsOfIds> make() {
    int64_t least = std::numeric_limits<int64_t>::max(), largest = -1;
    bool isRun = true; // Ids go on from that of the first slot.
    eachRow([&](int64_t id, uint32_t slot) {
      if (largest < 0)
        made_->first_ = id;
      isRun = isRun && uint64_t(id) - uint64_t(made_->first_) == slot;
      least = std::min(least, id), largest = std::max(largest, id);
    });
    const uint64_t span = uint64_t(largest) - uint64_t(made_->first_) + 1;
    if (isRun && (largest < 0 || span == uint64_t(store_.size()))) { // Else it skips padding.
      made_->count_ = uint64_t(store_.size());
      return made_;
    }
    // Up to here a table takes no more than ids with their slots.
    const uint64_t extent = uint64_t(largest) - uint64_t(least) + 1;
    if (extent / 3 <= uint64_t(store_.size()))
      fillTable(least, extent);
    else
      sortIds();
    return made_;
  }

private:
  /// \param visit  of an id and a slot, in the order of slots.
  template <class Visit> void eachRow(Visit visit) const {
    const RowsInPlace *const inPlace = store_.rowsInPlace();
    for (uint32_t l = 0; l < store_.nLists(); ++l) {
      const int64_t first = firstSlots_[l], size = store_.listSize(l);
      const std::span<const int64_t> ids = inPlace ? std::span<const int64_t>() : store_.idsOf(l);
      for (int64_t i = 0; i < size; ++i)
        visit(inPlace ? inPlace->idOf(i) : ids[size_t(i)], uint32_t(first + i));
    }
  }

  void fillTable(int64_t least, uint64_t extent) {
    made_->first_ = least, made_->count_ = extent;
    made_->slots_.assign(extent, kNone);
    int64_t twice = std::numeric_limits<int64_t>::max();
    eachRow([&](int64_t id, uint32_t slot) {
      uint32_t &entry = made_->slots_[uint64_t(id) - uint64_t(least)];
      if (std::exchange(entry, slot) != kNone)
        twice = std::min(twice, id);
    });
    if (twice != std::numeric_limits<int64_t>::max())
      refuse(twice);
  }

  void sortIds() {
    std::vector<std::pair<int64_t, uint32_t>> rows;
    rows.reserve(size_t(store_.size()));
    eachRow([&](int64_t id, uint32_t slot) { rows.emplace_back(id, slot); });
    std::ranges::sort(rows);
    made_->ids_.reserve(rows.size()), made_->slots_.reserve(rows.size());
    for (const auto &[id, slot] : rows) {
      if (!made_->ids_.empty() && made_->ids_.back() == id)
        refuse(id);
      made_->ids_.push_back(id), made_->slots_.push_back(slot);
    }
    made_->count_ = rows.size();
  }

  [[noreturn]] static void refuse(int64_t id) {
    throw ArgumentError(ErrorKind::Input, {"index", std::to_string(id)},
                        ": several rows have id " + std::to_string(id) +
                            ", so a candidate does not name one; give each row its own id");
  }

  const RowStore &store_;
  const std::vector<int64_t> firstSlots_;
  const std::shared_ptr<SlotsOfIds> made_ = std::make_shared<SlotsOfIds>();
};

std::shared_ptr<const SlotsOfIds> SlotsOfIds::of(const RowStore &store) {
  bool made = false;
  return store.attachments().get<SlotsOfIds>(
      "slots of ids", [&] { return Maker(store).make(); }, made);
}

} // namespace annudf::runtime
