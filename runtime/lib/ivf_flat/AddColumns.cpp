//===- AddColumns.cpp - Columns for the rows of an index ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Error.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "ivf_flat/NewRows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace annudf::runtime {
namespace {

/// Which value each row takes.
class ValueOfId {
public:
  ValueOfId(const int64_t *ids, int64_t count) : count_(count) {
    for (int64_t i = 0; ids && i < count; ++i)
      sorted_.emplace_back(ids[i], i);
    std::sort(sorted_.begin(), sorted_.end());
    hasIds_ = ids != nullptr;
  }
  /// \throws Error(Input) for an id without a value.
  int64_t operator()(int64_t id) const {
    if (!hasIds_ && id < count_)
      return id;
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(id, int64_t(0)));
    if (!hasIds_ || found == sorted_.end() || found->first != id)
      throw Error(ErrorKind::Input, "columns: the row with id " + std::to_string(id) +
                                        " has no value" +
                                        (hasIds_ ? "; name each id of the index once"
                                                 : "; value i belongs to id i, so give the ids"));
    return found->second;
  }

private:
  const int64_t count_;
  bool hasIds_ = false;
  std::vector<std::pair<int64_t, int64_t>> sorted_; ///< Id, and which of the given it is.
};

} // namespace

void appendValues(std::vector<std::byte> &to, const NewColumns::Values &values,
                  std::span<const int64_t> rows) {
  const size_t bytes = bytesOf(values.column.element);
  size_t at = to.size();
  to.resize(at + rows.size() * bytes);
  for (const int64_t row : rows) {
    std::memcpy(to.data() + at, values.bytes.data() + static_cast<size_t>(row) * bytes, bytes);
    at += bytes;
  }
}

std::vector<Column> Index::columnsWith(const NewIds &ids) const {
  if (size_ != 0 || !columns_.empty() || !ids.columns)
    return columns_;
  std::vector<Column> columns;
  columns.reserve(ids.columns->values.size());
  for (const NewColumns::Values &one : ids.columns->values)
    columns.push_back(one.column);
  return columns;
}

std::vector<ListColumns> Index::columnsAfter(const NewIds &ids,
                                             const std::vector<uint32_t> &assigned) const {
  std::vector<ListColumns> values = columnValues_;
  if (columns_.empty())
    return values;
  const NewMembers added(assigned, nLists());
  for (uint32_t l = 0; l < nLists(); ++l)
    for (size_t c = 0; c < columns_.size(); ++c)
      appendValues(values[l][c], ids.columns->values[c], added.of(l));
  return values;
}

void Index::addColumns(const NewColumns &added, const int64_t *ids) {
  const auto refuse = [](const std::string &what) { throw Error(ErrorKind::Input, what); };
  std::vector<Column> columns = columns_, given;
  given.reserve(added.values.size());
  for (const NewColumns::Values &one : added.values) {
    if (findColumn(columns_, one.column.name))
      refuse("column '" + one.column.name + "' is in the index already; its columns are " +
             columnText(columns_));
    given.push_back(one.column), columns.push_back(one.column);
  }
  checkColumns(given, added, size_);
  if (columns.size() > kMaxColumns)
    refuse("columns: there are " + std::to_string(columns.size()) + "; an index has at most " +
           std::to_string(kMaxColumns));
  const auto byName = [](const Column &a, const Column &b) { return a.name < b.name; };
  std::sort(columns.begin(), columns.end(), byName);

  if (rowsInPlace())
    takeLists(); // Pieces of them have no columns.
  const ValueOfId valueOf(ids, size_);
  std::vector<bool> taken(static_cast<size_t>(size_));
  std::vector<ListColumns> values(nLists());
  std::vector<int64_t> rows;
  for (uint32_t l = 0; l < nLists(); ++l) {
    rows.clear();
    for (const int64_t id : idsOf(l).first(static_cast<size_t>(listSize(l)))) {
      const int64_t row = valueOf(id);
      if (taken[static_cast<size_t>(row)])
        refuse("columns: several rows of the index have id " + std::to_string(id) +
               "; give the columns with the rows, to extend()");
      taken[static_cast<size_t>(row)] = true;
      rows.push_back(row);
    }
    for (const Column &column : columns) {
      const NewColumns::Values *one = added.find(column.name);
      if (!one) {
        const auto at = findColumn(columns_, column.name) - columns_.data();
        values[l].push_back(columnValues_[l][static_cast<size_t>(at)]);
        continue;
      }
      appendValues(values[l].emplace_back(), *one, rows);
    }
  }
  columnValues_ = std::move(values);
  columns_ = std::move(columns);
  columnsNumber_ = nextGeneration(); // A copy of this index shares what is attached to it.
}

} // namespace annudf::runtime
