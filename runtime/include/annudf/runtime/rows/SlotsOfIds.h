//===- SlotsOfIds.h - Which row of a store has an id ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_SLOTSOFIDS_H
#define ANNUDF_RUNTIME_ROWS_SLOTSOFIDS_H

#include "annudf/runtime/rows/RowStore.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace annudf::runtime {

/// The first slot of each list, and their number: slots count the rows of all lists, and each list
/// begins a group.
std::vector<int64_t> firstSlotsOf(const RowStore &store);

/// The slot of the row with an id, of one state of a store. Immutable.
class SlotsOfIds : public IndexAttachment {
public:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  /// Made once a state of the store, whose lists may be elsewhere.
  /// \throws ArgumentError(Input) naming an id of several rows; Error(Usage) for 2^32 - 1 slots and
  /// more.
  static std::shared_ptr<const SlotsOfIds> of(const RowStore &store);

  /// kNone: no row has the id.
  uint32_t slotOf(int64_t id) const {
    if (!ids_.empty()) {
      const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
      return found == ids_.end() || *found != id ? kNone : slots_[size_t(found - ids_.begin())];
    }
    const uint64_t at = uint64_t(id) - uint64_t(first_);
    if (id < first_ || at >= count_)
      return kNone;
    return slots_.empty() ? uint32_t(at) : slots_[at];
  }

  /// In order, one for each entry of slots(); empty: entry i belongs to id first() + i.
  std::span<const int64_t> ids() const { return ids_; }
  /// Empty: entry i is i.
  std::span<const uint32_t> slots() const { return slots_; }
  int64_t first() const { return first_; }
  uint64_t count() const { return count_; } ///< Entries.

private:
  class Maker;

  std::vector<int64_t> ids_;
  std::vector<uint32_t> slots_;
  int64_t first_ = 0;
  uint64_t count_ = 0;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_SLOTSOFIDS_H
