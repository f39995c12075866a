//===- EveryNth.h - An index kind that scans every n-th list ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that an index kind is: a store of rows, and a way to make candidates. It knows no backend,
// and no backend knows it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTH_H
#define ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTH_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/rows/Candidates.h"
#include "annudf/runtime/rows/RowStore.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace annudf::test {

class EveryNth final : public runtime::RowStore {
public:
  /// Ids are the numbers of the rows. Lists are of unequal sizes, and where they outnumber the root
  /// of the rows some are empty.
  EveryNth(const runtime::MatrixView &rows, uint32_t lists) {
    element_ = rows.element, dims_ = rows.dims;
    size_ = rows.rows, largestId_ = rows.rows - 1;
    lists_.resize(lists);
    const auto bytes = static_cast<size_t>(bytesOfRow(rows.element, rows.dims));
    std::vector<uint32_t> row(static_cast<size_t>(words()));
    for (int64_t id = 0; id < rows.rows; ++id) {
      std::memcpy(row.data(), static_cast<const std::byte *>(rows.data) + size_t(id) * bytes,
                  bytes);
      add(lists_[listOf(id)], id, row);
    }
    changed(std::make_shared<runtime::IndexAttachments>());
  }

  uint32_t listOf(int64_t id) const { return uint32_t(std::sqrt(double(id))) % nLists(); }

  /// Whether the candidates of the query with that number include the list.
  static bool isCandidate(int64_t query, uint32_t list, uint32_t n) {
    return list % n == query % n;
  }

  /// \param n  a divisor of nLists(), so that all queries have as many lists.
  std::vector<uint32_t> table(int64_t queries, uint32_t n) const {
    std::vector<uint32_t> lists;
    for (int64_t query = 0; query < queries; ++query)
      for (uint32_t list = nLists(); list-- > 0;)
        if (isCandidate(query, list, n))
          lists.push_back(list);
    return lists;
  }
  runtime::Candidates candidates(const std::vector<uint32_t> &table, uint32_t n) const {
    return runtime::Given{table.data(), nLists() / n};
  }

private:
  static void add(runtime::List &list, int64_t id, const std::vector<uint32_t> &row) {
    constexpr auto kGroup = size_t(runtime::kGroupRows);
    const auto place = size_t(list.size++);
    const auto rows = size_t(list.groups()) * kGroup;
    resizeZeroed(list.words, rows * row.size()), list.ids.resize(rows, -1);
    list.ids[place] = id;
    for (size_t word = 0; word < row.size(); ++word)
      list.words[(place / kGroup * row.size() + word) * kGroup + place % kGroup] = row[word];
  }
};

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_EVERY_NTH_EVERYNTH_H
