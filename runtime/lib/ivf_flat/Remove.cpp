//===- Remove.cpp - Deleting rows of an IVF-Flat index ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/Error.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Parallel.h"
#include "ivf_flat/IndexFile.h"
#include "ivf_flat/NewRows.h"

#include <algorithm>
#include <numeric>

namespace annudf::runtime {
namespace {

/// Ids to be asked for once a row.
class IdSet {
public:
  /// \param largest  of the ids that will be asked for; \param rows  how many will be.
  IdSet(std::span<const int64_t> ids, int64_t largest, int64_t rows) {
    // A bit for each id takes no longer than to sort them, and as a rule less memory than the ids
    // of the index do.
    if (largest / 64 <= rows) {
      bits_.resize(static_cast<size_t>(largest + 1));
      for (const int64_t id : ids)
        if (id <= largest)
          bits_[static_cast<size_t>(id)] = true;
      return;
    }
    sorted_.assign(ids.begin(), ids.end());
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool has(int64_t id) const {
    return bits_.empty() ? std::binary_search(sorted_.begin(), sorted_.end(), id)
                         : bits_[static_cast<size_t>(id)];
  }

private:
  std::vector<bool> bits_;
  std::vector<int64_t> sorted_;
};

/// What is left of a list.
struct Left {
  int64_t rows = 0, largestId = -1;
};

/// Closes the gaps of a list; rows keep their order, so it is the list that they alone would be.
void compact(List &list, int64_t left, int32_t words, const IdSet &gone) {
  const auto wordOf = [&](int64_t row) {
    return list.words.data() + row / kGroupRows * words * kGroupRows + row % kGroupRows;
  };
  int64_t to = 0;
  for (int64_t from = 0; from < list.size; ++from) {
    const int64_t id = list.ids[static_cast<size_t>(from)];
    if (gone.has(id))
      continue;
    if (to != from) {
      uint32_t *at = wordOf(to);
      const uint32_t *row = wordOf(from);
      for (int64_t w = 0; w < words; ++w)
        at[w * kGroupRows] = row[w * kGroupRows];
      list.ids[static_cast<size_t>(to)] = id;
    }
    ++to;
  }
  list.size = left;
  resizeZeroed(list.words, static_cast<size_t>(list.groups() * words * kGroupRows));
  list.ids.resize(static_cast<size_t>(list.groups() * kGroupRows));
  for (; to < list.groups() * kGroupRows; ++to) {
    list.ids[static_cast<size_t>(to)] = -1;
    uint32_t *at = wordOf(to);
    for (int64_t w = 0; w < words; ++w)
      at[w * kGroupRows] = 0;
  }
  // Memory is given back where it is the larger part; where there is none to move to, all stays.
  if (list.ids.capacity() > 2 * list.ids.size()) {
    list.words.shrink_to_fit();
    list.ids.shrink_to_fit();
  }
}

/// The same of the values of its columns.
void compact(ListColumns &values, const std::vector<Column> &columns, std::span<const int64_t> ids,
             const IdSet &gone) {
  for (size_t c = 0; c < columns.size(); ++c) {
    const size_t bytes = bytesOf(columns[c].element);
    size_t to = 0;
    for (size_t from = 0; from < ids.size(); ++from)
      if (!gone.has(ids[from])) {
        if (to != from)
          std::copy_n(values[c].data() + from * bytes, bytes, values[c].data() + to * bytes);
        ++to;
      }
    values[c].resize(to * bytes);
    if (values[c].capacity() > 2 * values[c].size())
      values[c].shrink_to_fit();
  }
}

} // namespace

std::vector<ListColumns> Index::columnsWithout(std::span<const int64_t> ids) const {
  std::vector<ListColumns> values = columnValues_;
  if (columns_.empty())
    return values;
  const IdSet gone(ids, largestId_, size_);
  parallelFor(threads_, nLists(), [&](int64_t l, int) {
    const auto list = static_cast<uint32_t>(l);
    compact(values[list], columns_, idsOf(list).first(static_cast<size_t>(listSize(list))), gone);
  });
  return values;
}

int64_t Index::remove(std::span<const int64_t> ids, const Progress &progress) {
  checkIds(ids);
  report(progress, "remove", 0);
  takeLists();
  const IdSet gone(ids, largestId_, size_);
  std::vector<Left> left(nLists());
  parallelFor(threads_, nLists(), [&](int64_t l, int) {
    const List &list = lists_[static_cast<size_t>(l)];
    Left &kept = left[static_cast<size_t>(l)];
    for (int64_t i = 0; i < list.size; ++i)
      if (const int64_t id = list.ids[static_cast<size_t>(i)]; !gone.has(id))
        ++kept.rows, kept.largestId = std::max(kept.largestId, id);
  });
  Left all;
  for (const Left &kept : left)
    all.rows += kept.rows, all.largestId = std::max(all.largestId, kept.largestId);
  const int64_t removed = size_ - all.rows;
  if (removed == 0) {
    report(progress, "remove", 1);
    return 0; // What backends keep of it holds.
  }

  // All memory first: once a list has changed, nothing may fail.
  auto attachments = std::make_shared<IndexAttachments>();
  std::vector<double> sums;
  std::vector<float> centers;
  if (adaptive_) {
    sums = sums_, centers = centers_.values;
    parallelFor(threads_, nLists(), [&](int64_t l, int) {
      const auto list = static_cast<uint32_t>(l);
      const int64_t rows = left[list].rows;
      if (rows == lists_[list].size)
        return;
      const std::vector<double> sum =
          sumOfList(*this, list, [&](int64_t id) { return !gone.has(id); });
      if (!sums.empty())
        std::copy(sum.begin(), sum.end(), sums.begin() + l * dims_);
      meanOf(sum.data(), rows, *this, centers.data() + l * dims_);
    });
  }
  report(progress, "remove", 1); // The last chance to stop.
  parallelFor(threads_, nLists(), [&](int64_t l, int) {
    const auto list = static_cast<size_t>(l);
    if (left[list].rows == lists_[list].size)
      return;
    if (!columns_.empty())
      compact(columnValues_[list], columns_,
              std::span(lists_[list].ids).first(static_cast<size_t>(lists_[list].size)), gone);
    compact(lists_[list], left[list].rows, words(), gone);
  });
  size_ = all.rows, largestId_ = all.largestId;
  if (adaptive_)
    centers_.values = std::move(centers), sums_ = std::move(sums);
  changed(std::move(attachments));
  return removed;
}

} // namespace annudf::runtime
