//===- NewRows.cpp - What rows that join an index change --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ivf_flat/NewRows.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/Error.h"
#include "annudf/runtime/support/Parallel.h"
#include "coarse/KMeans.h"
#include "vectors/Elements.h"
#include "vectors/Missing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace annudf::runtime {

NewMembers::NewMembers(const std::vector<uint32_t> &assigned, uint32_t nLists)
    : begin_(size_t(nLists) + 1), rows_(assigned.size()) {
  for (uint32_t list : assigned)
    ++begin_[size_t(list) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
  for (size_t row = 0; row < assigned.size(); ++row)
    rows_[static_cast<size_t>(next[assigned[row]]++)] = static_cast<int64_t>(row);
}

namespace {

constexpr int64_t kNone = INT64_MAX;

/// Ids of new rows, to be asked which row has one.
class IdsOfRows {
public:
  IdsOfRows(const int64_t *ids, int64_t rows)
      : ids_(ids), rows_(rows), least_(*std::min_element(ids, ids + rows)) {
    if (std::adjacent_find(ids, ids + rows, std::greater_equal<>()) == ids + rows)
      return; // They ascend.
    byId_.reserve(static_cast<size_t>(rows));
    for (int64_t row = 0; row < rows; ++row)
      byId_.emplace_back(ids[row], row);
    std::sort(byId_.begin(), byId_.end());
  }

  int64_t least() const { return least_; }

  /// The first two rows, by the second, that share an id; kNone if none do.
  std::pair<int64_t, int64_t> firstRepeated() const {
    std::pair<int64_t, int64_t> found = {kNone, kNone};
    for (size_t i = 1; i < byId_.size(); ++i)
      if (byId_[i].first == byId_[i - 1].first && byId_[i].second < found.second)
        found = {byId_[i - 1].second, byId_[i].second};
    return found;
  }

  /// The first row with that id; kNone if none has it.
  int64_t rowOf(int64_t id) const {
    if (id < least_)
      return kNone;
    if (byId_.empty()) {
      const int64_t *found = std::lower_bound(ids_, ids_ + rows_, id);
      return found != ids_ + rows_ && *found == id ? found - ids_ : kNone;
    }
    const auto found = std::lower_bound(byId_.begin(), byId_.end(), std::pair(id, int64_t(0)));
    return found != byId_.end() && found->first == id ? found->second : kNone;
  }

private:
  const int64_t *ids_;
  int64_t rows_, least_;
  std::vector<std::pair<int64_t, int64_t>> byId_; ///< Where they do not ascend: (id, row), sorted.
};

/// Row `position` of a list as it was added.
void loadRow(const List &list, int32_t words, int64_t position, int64_t bytes, char *row) {
  const uint32_t *from =
      list.words.data() + position / kGroupRows * words * kGroupRows + position % kGroupRows;
  for (; bytes > 0; bytes -= 4, row += 4, from += kGroupRows)
    std::memcpy(row, from, static_cast<size_t>(std::min<int64_t>(bytes, 4)));
}

/// Adds one row to the sum of its list.
void addRow(const MatrixView &row, const Index &index, std::vector<float> &scratch, double *sum) {
  convertRows(row, 0, 1, scratch.data());
  fillMissing(scratch.data(), 1, index.fill());
  if (index.metric() == ANNUDF_COARSE_COSINE)
    normaliseRows(scratch.data(), 1, row.dims);
  for (int32_t d = 0; d < row.dims; ++d)
    sum[d] += scratch[static_cast<size_t>(d)];
}

} // namespace

void checkIds(std::span<const int64_t> ids) {
  const auto below = std::find_if(ids.begin(), ids.end(), [](int64_t id) { return id < 0; });
  if (below == ids.end())
    return;
  ArgumentFault fault{"ids", std::to_string(*below), "0 or above"};
  const std::string rest = "[" + std::to_string(below - ids.begin()) + "] is " + fault.value +
                           "; ids are " + fault.allowed;
  throw ArgumentError(ErrorKind::Input, std::move(fault), rest);
}

void refuseRepeatedIds(const Index &index, const int64_t *ids, int64_t rows, int threads) {
  refuseRepeatedIds(index.largestId(), ids, rows, threads, [&] {
    std::vector<std::span<const int64_t>> all;
    for (const List &list : index.lists())
      all.emplace_back(list.ids.data(), static_cast<size_t>(list.size));
    return all;
  });
}

void refuseRepeatedIds(int64_t largestId, const int64_t *ids, int64_t rows, int threads,
                       const std::function<std::vector<std::span<const int64_t>>()> &ofIndex) {
  const IdsOfRows wanted(ids, rows);
  if (const auto [first, second] = wanted.firstRepeated(); second != kNone)
    throw ArgumentError(ErrorKind::Input, {"ids", std::to_string(ids[second])},
                        "[" + std::to_string(second) + "] is " + std::to_string(ids[second]) +
                            ", the id of row " + std::to_string(first) +
                            " too; ids must differ unless allow_repeated_ids is set");
  if (wanted.least() > largestId)
    return;
  const std::vector<std::span<const int64_t>> all = ofIndex();
  std::vector<int64_t> found(all.size(), kNone);
  parallelFor(threads, int64_t(all.size()), [&](int64_t part, int) {
    int64_t &first = found[static_cast<size_t>(part)];
    for (const int64_t id : all[static_cast<size_t>(part)])
      first = std::min(first, wanted.rowOf(id));
  });
  const int64_t row = *std::min_element(found.begin(), found.end());
  if (row == kNone)
    return;
  throw ArgumentError(
      ErrorKind::Input, {"ids", std::to_string(ids[row])},
      "[" + std::to_string(row) + "] is " + std::to_string(ids[row]) +
          ", which the index has; ids must be new unless allow_repeated_ids is set");
}

std::vector<double> sumOfList(const Index &index, uint32_t list,
                              const std::function<bool(int64_t id)> &counts) {
  const List &rows = index.list(list);
  std::vector<double> sum(static_cast<size_t>(index.dims()));
  std::vector<char> bytes(static_cast<size_t>(bytesOfRow(index.element(), index.dims())));
  std::vector<float> scratch(sum.size());
  for (int64_t position = 0; position < rows.size; ++position) {
    if (!counts(rows.ids[static_cast<size_t>(position)]))
      continue;
    loadRow(rows, index.words(), position, static_cast<int64_t>(bytes.size()), bytes.data());
    addRow({bytes.data(), 1, index.dims(), index.element()}, index, scratch, sum.data());
  }
  return sum;
}

std::vector<double> sumsOfLists(const Index &index, int threads) {
  std::vector<double> sums(index.nLists() * static_cast<size_t>(index.dims()));
  parallelFor(threads, index.nLists(), [&](int64_t l, int) {
    const std::vector<double> sum =
        sumOfList(index, static_cast<uint32_t>(l), [](int64_t) { return true; });
    std::copy(sum.begin(), sum.end(), sums.begin() + l * index.dims());
  });
  return sums;
}

void addToSums(std::vector<double> &sums, const MatrixView &rows, const NewMembers &added,
               const Index &index, int threads) {
  const auto dims = static_cast<size_t>(rows.dims);
  parallelFor(threads, static_cast<int64_t>(sums.size() / dims), [&](int64_t l, int) {
    std::vector<float> scratch(dims);
    for (const int64_t row : added.of(static_cast<uint32_t>(l)))
      addRow(
          {static_cast<const char *>(rows.data) + row * rowBytes(rows), 1, rows.dims, rows.element},
          index, scratch, sums.data() + static_cast<size_t>(l) * dims);
  });
}

std::vector<float> meansOf(const std::vector<double> &sums, const Index &index,
                           const NewMembers &added) {
  std::vector<float> centers = index.centers();
  const auto dims = static_cast<size_t>(index.dims());
  for (uint32_t l = 0; l < index.nLists(); ++l)
    meanOf(sums.data() + l * dims, index.list(l).size + added.count(l), index,
           centers.data() + l * dims);
  return centers;
}

void meanOf(const double *sum, int64_t size, const Index &index, float *center) {
  if (size == 0)
    return;
  for (int32_t d = 0; d < index.dims(); ++d)
    center[d] = static_cast<float>(sum[d] / double(size));
  if (index.metric() != ANNUDF_COARSE_L2)
    normaliseRows(center, 1, index.dims());
}

} // namespace annudf::runtime
