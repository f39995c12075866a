//===- OneList.cpp - Rows that are searched exactly -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ivf_flat/OneList.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/support/Parallel.h"
#include "ivf_flat/NewIndex.h"
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
      throw Error(ErrorKind::Input, "base: " + std::to_string(rows) + " ids from " +
                                        std::to_string(ids.first) + " on; ids are 0 to " +
                                        std::to_string(INT64_MAX));
    return ids.first + rows - 1;
  }
  for (int64_t i = 0; i < rows; ++i)
    if (ids.ids[i] < 0)
      throw Error(ErrorKind::Input, "base: id " + std::to_string(ids.ids[i]) + " of row " +
                                        std::to_string(i) + " is below 0");
  std::vector<int64_t> sorted(ids.ids, ids.ids + rows);
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    const int64_t *first = std::find(ids.ids, ids.ids + rows, *twice),
                  *second = std::find(first + 1, ids.ids + rows, *twice);
    throw Error(ErrorKind::Input, "base: id " + std::to_string(*twice) + " of row " +
                                      std::to_string(second - ids.ids) + " is that of row " +
                                      std::to_string(first - ids.ids) +
                                      " too; give each row an id of its own");
  }
  return sorted.back();
}

Index Index::ofOneList(const MatrixView &rows, bool missingValues, int threads, const RowIds &ids,
                       const Progress &progress) {
  const IndexParams params = paramsOfOneList(rows, missingValues, threads);
  checkBase(rows, params, ids.first);
  const int64_t largest = checkIdsOfRows(ids, rows.rows);

  IndexParts parts = {rows.element, rows.dims,          rows.rows, params.metric,
                      threads,      centerOfRows(rows), nullptr};
  if (params.missingValues)
    parts.fill = parts.centers;
  Index index(std::move(parts));
  index.largestId_ = largest;
  List &list = index.lists_.front();
  list.size = rows.rows;
  const int32_t words = index.words();
  list.words.resize(static_cast<size_t>(list.groups() * kGroupRows * words));
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
  return index;
}

} // namespace annudf::runtime
