//===- Columns.h - Captures that are columns of a store ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A capture of extent `row` without a value reads the column of its name of whatever store is
// searched. Arrays of columns are made once a state of a store.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_COLUMNS_H
#define ANNUDF_RUNTIME_ENGINE_COLUMNS_H

#include "annudf/runtime/captures/Captures.h"
#include "annudf/runtime/rows/RowStore.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace annudf::runtime {

/// Columns of rows that a call adds, of arrays in host memory with an entry a row.
/// \throws Error(Input) naming the column: a name, dtype, shape or place that cannot be.
NewColumns newColumns(const std::map<std::string, CaptureValue> &values);

/// What captures without a value may take of a store.
ColumnTypes columnTypes(const RowStore &store);

/// Captures as a search of a store reads them.
class StoreCaptures {
public:
  /// \param captures  kept by the caller.
  /// \throws Error(Usage) for a column that the store does not have; Error(Input) for rows of one
  /// id with different values, which no array indexed by ids can hold.
  StoreCaptures(const RowStore &store, const Manifest &manifest, const BoundCaptures &captures);
  StoreCaptures(const StoreCaptures &) = delete;
  StoreCaptures &operator=(const StoreCaptures &) = delete;

  const BoundCaptures &get() const { return own_ ? *own_ : given_; }
  /// Whether columns are in slot order, so that hooks get a row's slot as its number: rows of a
  /// list are adjacent, each list begins a group, and lists follow each other. With candidates of
  /// an index it is their slot there.
  bool bySlot() const { return bySlot_; }
  /// Whether that slot is another than the place in the store's lists.
  bool bySlotOfSource() const { return bySlot_ && store_.source(); }
  /// RowStore::slotsInSource().
  const int64_t *slotsInSource(uint32_t list) const { return store_.slotsInSource(list); }
  /// The first slot of each list that has columns, and their number; empty unless bySlot().
  std::vector<int64_t> firstSlots() const;

private:
  /// What has the columns.
  const RowStore &source() const { return store_.source() ? *store_.source() : store_; }

  const RowStore &store_;
  const BoundCaptures &given_;
  std::optional<BoundCaptures> own_;
  bool bySlot_ = false;
};

/// Values of a column of integers, by id; kept with the store.
/// \throws ArgumentError(Usage) naming `argument`, which gave the name, where the store has no such
/// column, or where it is none of integers; as StoreCaptures.
std::shared_ptr<const std::vector<int64_t>>
integersById(const RowStore &store, const std::string &column, const char *argument);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_COLUMNS_H
