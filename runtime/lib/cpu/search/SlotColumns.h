//===- SlotColumns.h - Columns as the scan of a list reads them -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of a group are adjacent in a column that is in slot order. A task's hooks get the numbers
// 0, 1, ... and addresses of its part of each column, so one table of numbers serves all tasks. Of
// candidates of an index they get the slots there.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H

#include "cpu/search/Batch.h"

#include "annudf/Support/Error.h"
#include "annudf/runtime/engine/Columns.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime::cpu {

using Slots = std::array<uint64_t, ANNUDF_MAX_CAPTURES>;

/// \throws Error(Usage) for a capture that is on a device.
inline Slots slotsOf(const BoundCaptures &captures) {
  Slots slots{};
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures.space(i) != MemorySpace::Host)
      throw Error(ErrorKind::Usage,
                  "capture '" + captures.declared()[i].name + "' is on CUDA device " +
                      std::to_string(captures.device(i)) + "; the CPU backend takes host memory");
    slots[i] = captures.slot(i);
  }
  return slots;
}

class SlotColumns {
public:
  explicit SlotColumns(const StoreCaptures &ofStore)
      : ofStore_(ofStore), slots_(slotsOf(ofStore.get())),
        firstSlots_(ofStore.bySlotOfSource() ? std::vector<int64_t>() : ofStore.firstSlots()) {
    const BoundCaptures &captures = ofStore.get();
    for (size_t i = 0; ofStore.bySlot() && i < captures.size(); ++i)
      if (captures.readsColumn(i))
        columns_.emplace_back(i, bytesOf(captures.declared()[i].element));
  }
  const uint64_t *slots() const { return slots_.data(); }

  /// What place() gives as numbers.
  std::vector<int64_t> numbersFor(const std::vector<Task> &tasks) const {
    if (firstSlots_.empty())
      return {};
    int64_t most = 0;
    for (const Task &task : tasks)
      most = std::max(most, task.groups * kGroupRows);
    std::vector<int64_t> numbers(static_cast<size_t>(most));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  /// \param own  memory for as long as the scan.
  void place(annudf_cpu_scan &scan, const Task &task, const std::vector<int64_t> &numbers,
             Slots &own) const {
    scan.slots = slots_.data();
    if (ofStore_.bySlotOfSource())
      scan.numbers = ofStore_.slotsInSource(task.list) + task.firstGroup * kGroupRows;
    if (firstSlots_.empty())
      return;
    own = slots_;
    const int64_t first = firstSlots_[task.list] + task.firstGroup * kGroupRows;
    for (const auto &[slot, bytes] : columns_)
      own[slot] += static_cast<uint64_t>(first) * bytes;
    scan.slots = own.data(), scan.numbers = numbers.data();
  }

private:
  const StoreCaptures &ofStore_;
  const Slots slots_;
  const std::vector<int64_t> firstSlots_;
  std::vector<std::pair<size_t, size_t>> columns_; ///< Which capture, and the bytes of a value.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_SLOTCOLUMNS_H
