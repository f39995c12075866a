//===- SlotColumns.h - Columns as the scan of a list reads them -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of a group are adjacent in a column that is in slot order. A task's hooks get the numbers
// 0, 1, ... and addresses of its part of each column, so one table of numbers serves all tasks.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H

#include "cpu/search/Batch.h"

#include "annudf/runtime/engine/Columns.h"

#include <array>
#include <numeric>
#include <vector>

namespace annudf::runtime::cpu {

using Slots = std::array<uint64_t, ANNUDF_MAX_CAPTURES>;

class SlotColumns {
public:
  SlotColumns(const StoreCaptures &ofStore, const Slots &slots) : slots_(slots) {
    const BoundCaptures &captures = ofStore.get();
    for (size_t i = 0; ofStore.bySlot() && i < captures.size(); ++i)
      if (captures.readsColumn(i))
        bytes_[i] = bytesOf(captures.declared()[i].element);
    firstSlots_ = ofStore.firstSlots();
  }
  const uint64_t *slots() const { return slots_.data(); }

  /// What place() gives as numbers.
  std::vector<int64_t> numbersFor(const std::vector<Task> &tasks) const {
    int64_t most = 0;
    for (const Task &task : tasks)
      most = std::max(most, firstSlots_.empty() ? 0 : task.groups * kGroupRows);
    std::vector<int64_t> numbers(static_cast<size_t>(most));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  /// \param own  memory for as long as the scan.
  void place(annudf_cpu_scan &scan, const Task &task, const std::vector<int64_t> &numbers,
             Slots &own) const {
    scan.slots = slots_.data();
    if (firstSlots_.empty())
      return;
    own = slots_;
    const int64_t first = firstSlots_[task.list] + task.firstGroup * kGroupRows;
    for (size_t i = 0; i < own.size(); ++i)
      own[i] += static_cast<uint64_t>(first) * bytes_[i];
    scan.slots = own.data(), scan.numbers = numbers.data();
  }

private:
  const Slots slots_;
  std::array<size_t, ANNUDF_MAX_CAPTURES> bytes_{}; ///< Size of a column's value; else 0.
  std::vector<int64_t> firstSlots_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H
