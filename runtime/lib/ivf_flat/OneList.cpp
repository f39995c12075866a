//===- OneList.cpp - Rows that are searched exactly -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ivf_flat/OneList.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/support/Parallel.h"
#include "ivf_flat/NewIndex.h"
#include "ivf_flat/NewRows.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace annudf::runtime {
namespace {

/// Writes rows [first, last) of `rows` in the layout of List; `first` begins a group.
void packRows(const MatrixView &rows, int64_t first, int64_t last, int32_t words, uint32_t *to) {
  const int64_t bytes = rowBytes(rows), whole = bytes / 4;
  const auto rest = static_cast<size_t>(bytes % 4);
  const auto *data = static_cast<const std::byte *>(rows.data);
  for (int64_t begin = first; begin < last; begin += kGroupRows) {
    uint32_t *group = to + begin * words;
    const int64_t count = std::min<int64_t>(kGroupRows, last - begin);
    const std::byte *from = data + begin * bytes;
    for (int64_t w = 0; w < whole; ++w)
      for (int64_t r = 0; r < count; ++r)
        std::memcpy(group + w * kGroupRows + r, from + r * bytes + w * 4, 4);
    if (rest != 0) // Coordinates fill a word from its least significant byte.
      for (int64_t r = 0; r < count; ++r)
        std::memcpy(group + whole * kGroupRows + r, from + r * bytes + whole * 4, rest);
  }
}

} // namespace

std::vector<uint32_t> rowsOfCenter(int64_t rows) {
  constexpr int64_t kMost = 1024;
  const int64_t count = std::min(rows, kMost);
  std::vector<uint32_t> chosen(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    chosen[static_cast<size_t>(i)] =
        static_cast<uint32_t>(double(i) * double(rows) / double(count));
  return chosen;
}

std::vector<float> centerOfRows(const float *sample, size_t count, size_t stride, int32_t dims) {
  std::vector<float> center(static_cast<size_t>(dims));
  for (size_t d = 0; d < center.size(); ++d) {
    double sum = 0;
    size_t there = 0;
    for (size_t i = 0; i < count; ++i)
      if (const float value = sample[i * stride + d]; !std::isnan(value))
        sum += double(value), ++there;
    center[d] = there == 0 ? 0.0f : static_cast<float>(sum / double(there));
  }
  return center;
}

std::vector<float> centerOfRows(const MatrixView &rows) {
  const std::vector<uint32_t> chosen = rowsOfCenter(rows.rows);
  const auto dims = static_cast<size_t>(rows.dims);
  std::vector<float> sample(chosen.size() * dims);
  for (size_t i = 0; i < chosen.size(); ++i)
    convertRows(rows, chosen[i], chosen[i] + int64_t(1), sample.data() + i * dims);
  return centerOfRows(sample.data(), chosen.size(), dims, rows.dims);
}

IndexParams paramsOfOneList(const MatrixView &rows, bool missingValues, int threads) {
  IndexParams params;
  params.nLists = 1, params.threads = threads;
  params.missingValues = missingValues && kindOf(rows.element) == NumberKind::Float;
  return checkedParams(params, rows);
}

int64_t checkIdsOfRows(const RowIds &ids, int64_t rows) {
  if (!ids.ids) {
    if (ids.first < 0 || ids.first > INT64_MAX - rows)
      throw ArgumentError(ErrorKind::Input, {"ids"},
                          ": " + std::to_string(rows) + " ids from " + std::to_string(ids.first) +
                              " on; ids are 0 to " + std::to_string(INT64_MAX));
    return ids.first + rows - 1;
  }
  checkIds({ids.ids, size_t(rows)});
  std::vector<int64_t> sorted(ids.ids, ids.ids + rows);
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    const int64_t *first = std::find(ids.ids, ids.ids + rows, *twice),
                  *second = std::find(first + 1, ids.ids + rows, *twice);
    throw ArgumentError(ErrorKind::Input, {"ids", std::to_string(*twice)},
                        "[" + std::to_string(second - ids.ids) + "] is " + std::to_string(*twice) +
                            ", the id of row " + std::to_string(first - ids.ids) +
                            " too; give each row an id of its own");
  }
  return sorted.back();
}

namespace {

/// All rows in one list.
List packedList(const MatrixView &rows, const RowIds &ids, int threads, const Progress &progress) {
  List list;
  list.size = rows.rows;
  const int32_t words = wordsPerRow(rows.element, rows.dims);
  resizeZeroed(list.words, static_cast<size_t>(list.groups() * kGroupRows * words));
  list.ids.resize(static_cast<size_t>(list.groups() * kGroupRows), -1);
  // Tasks of so many rows, and so many tasks between two looks at whether to stop.
  constexpr int64_t kTask = 64 * kGroupRows, kPiece = 512 * kTask;
  for (int64_t first = 0; first < rows.rows; first += kPiece) {
    report(progress, "add", double(first) / double(rows.rows));
    const int64_t count = std::min(kPiece, rows.rows - first);
    parallelFor(threads, (count + kTask - 1) / kTask, [&](int64_t task, int) {
      const int64_t begin = first + task * kTask, end = std::min(begin + kTask, first + count);
      packRows(rows, begin, end, words, list.words.data());
      for (int64_t row = begin; row < end; ++row)
        list.ids[static_cast<size_t>(row)] = ids.ids ? ids.ids[row] : ids.first + row;
    });
  }
  report(progress, "add", 1);
  return list;
}

IndexParts partsOf(const MatrixView &rows, const IndexParams &params,
                   std::shared_ptr<ListsElsewhere> lists) {
  IndexParts parts = {rows.element,   rows.dims,          rows.rows,       params.metric,
                      params.threads, centerOfRows(rows), std::move(lists)};
  if (params.missingValues)
    parts.fill = parts.centers;
  return parts;
}

} // namespace

/// Rows that were checked.
class BorrowedRows final : public RowsInPlace {
public:
  BorrowedRows(const MatrixView &rows, const IndexParams &params, const RowIds &ids,
               int64_t largest)
      : RowsInPlace(rows), params_(params), ids_(ids.ids, ids.ids ? ids.ids + rows.rows : ids.ids),
        first_(ids.first), largest_(largest), size_(static_cast<uint32_t>(rows.rows)) {}

  std::span<const uint32_t> sizes() const override { return {&size_, 1}; }
  std::unique_ptr<const RowStore> piece(int64_t first, int64_t count,
                                        const Progress &progress) const override {
    MatrixView some = rows_;
    some.data = static_cast<const std::byte *>(rows_.data) + first * rowBytes(rows_);
    some.rows = count;
    const RowIds ids = {ids_.empty() ? nullptr : ids_.data() + first, first_ + first};
    return std::make_unique<const Index>(Index::packed(some, params_, ids, largest_, progress));
  }
  int64_t numberOf(int64_t id) const override {
    if (ids_.empty())
      return id >= first_ && id - first_ < rows_.rows ? id - first_ : -1;
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    return found == ids_.end() ? -1 : found - ids_.begin();
  }
  int64_t idOf(int64_t number) const override {
    return ids_.empty() ? first_ + number : ids_[size_t(number)];
  }

protected:
  std::vector<List> fetch() override {
    std::vector<List> lists;
    lists.push_back(
        packedList(rows_, {ids_.empty() ? nullptr : ids_.data(), first_}, params_.threads, {}));
    return lists;
  }

private:
  const IndexParams params_;
  const std::vector<int64_t> ids_; ///< Empty: they go on from `first_`.
  const int64_t first_, largest_;
  const uint32_t size_;
};

Index Index::packed(const MatrixView &rows, const IndexParams &params, const RowIds &ids,
                    int64_t largest, const Progress &progress) {
  Index index(partsOf(rows, params, nullptr));
  index.largestId_ = largest;
  index.lists_.front() = packedList(rows, ids, params.threads, progress);
  return index;
}

Index Index::ofOneList(const MatrixView &rows, bool missingValues, int threads, const RowIds &ids,
                       const Progress &progress) {
  const IndexParams params = paramsOfOneList(rows, missingValues, threads);
  checkBase(rows, params, ids.first);
  return packed(rows, params, ids, checkIdsOfRows(ids, rows.rows), progress);
}

Index Index::overRows(const MatrixView &rows, bool missingValues, int threads, const RowIds &ids) {
  if (rows.rows > UINT32_MAX) // More than a list elsewhere may have.
    return ofOneList(rows, missingValues, threads, ids);
  const IndexParams params = paramsOfOneList(rows, missingValues, threads);
  checkBase(rows, params, ids.first);
  const int64_t largest = checkIdsOfRows(ids, rows.rows);
  Index index(partsOf(rows, params, std::make_shared<BorrowedRows>(rows, params, ids, largest)));
  index.largestId_ = largest;
  return index;
}

} // namespace annudf::runtime
