//===- Index.cpp - Building and extending an IVF-Flat index -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/ivf_flat/Index.h"

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/support/Parallel.h"
#include "coarse/KMeans.h"
#include "ivf_flat/IndexFile.h"
#include "ivf_flat/NewIndex.h"
#include "ivf_flat/NewRows.h"
#include "vectors/Elements.h"
#include "vectors/Missing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace annudf::runtime {
namespace {

void checkShape(const MatrixView &matrix, const char *what) {
  auto refuse = [&](const std::string &why) {
    throw ArgumentError(ErrorKind::Input, {what}, ": " + why);
  };
  if (matrix.rows <= 0)
    refuse("it has no rows");
  if (matrix.dims <= 0 || matrix.dims > kMaxDims)
    refuse(std::to_string(matrix.dims) + " dims; between 1 and " + std::to_string(kMaxDims) +
           " are supported");
  if (const std::string fault = faultOfDims(matrix.element, matrix.dims); !fault.empty())
    refuse(fault);
  if (!matrix.data)
    refuse("no data");
}

/// Copies one row to its place among the words of a list; padding stays as it is, zero.
/// NewRows.cpp reads what this writes.
void storeRow(const char *row, int64_t bytes, int32_t words, int64_t position, List::Words &out) {
  uint32_t *to = out.data() + (position / kGroupRows * words) * kGroupRows + position % kGroupRows;
  for (; bytes >= 4; bytes -= 4, row += 4, to += kGroupRows)
    std::memcpy(to, row, 4);
  if (bytes > 0) {
    uint32_t last = 0; // Coordinates fill a word from its least significant byte.
    std::memcpy(&last, row, static_cast<size_t>(bytes));
    *to = last;
  }
}

} // namespace

Index::Index(IndexParts parts)
    : metric_(parts.metric), adaptive_(parts.adaptiveCenters),
      centers_{std::move(parts.centers), parts.dims, std::move(parts.fill)} {
  element_ = parts.element, dims_ = parts.dims, threads_ = parts.threads;
  size_ = parts.size, largestId_ = parts.size - 1;
  missing_ = !centers_.fill.empty();
  lists_.resize(centers_.count());
  elsewhere_ = std::move(parts.lists);
  generation_ = nextGeneration();
}

Index::Index(IndexParts parts, const MatrixView &rows, const std::vector<uint32_t> &lists,
             const Progress &progress)
    : Index(std::move(parts)) {
  append(rows, {}, lists, progress);
}

std::vector<float> Index::meanOfRows() const {
  const auto dims = static_cast<size_t>(dims_);
  std::vector<double> sums(dims);
  for (uint32_t list = 0; list < nLists(); ++list)
    for (size_t d = 0; d < dims; ++d)
      sums[d] += double(listSize(list)) * double(centers_.values[list * dims + d]);
  std::vector<float> mean(dims);
  for (size_t d = 0; d < dims; ++d)
    if (const auto value = float(sums[d] / double(std::max<int64_t>(size_, 1)));
        std::isfinite(value))
      mean[d] = value;
  return mean;
}

uint32_t automaticLists(int64_t rows) {
  constexpr int64_t kFew = 1000;
  if (rows < kFew)
    return 1;
  return static_cast<uint32_t>(std::min<double>(std::round(std::sqrt(double(rows))), kMaxLists));
}

IndexParams checkedParams(IndexParams params, const MatrixView &base) {
  auto usage = [](const std::string &why) { throw Error(ErrorKind::Usage, why); };
  if (params.nLists > kMaxLists)
    usage("lists = " + std::to_string(params.nLists) + ": must be at most " +
          std::to_string(kMaxLists) + "; 0 is the square root of the number of rows");
  if (!(params.kmeansTrainsetFraction > 0 && params.kmeansTrainsetFraction <= 1))
    usage("k-means training fraction = " + std::to_string(params.kmeansTrainsetFraction) +
          ": must be above 0 and at most 1");
  resolveThreads(params.threads);
  if (params.missingValues && kindOf(base.element) != NumberKind::Float)
    usage(std::string("missing_values: vectors of ") + toString(base.element) +
          " have no NaN to stand for a missing value; give f32, f16 or bf16, or leave "
          "missing_values out");
  checkShape(base, "base");
  if (params.nLists == 0)
    params.nLists = automaticLists(base.rows);
  return params;
}

void checkBase(const MatrixView &base, const IndexParams &params, int64_t firstRow) {
  checkFinite(base, "base", params.threads, params.missingValues ? NaNs::Missing : NaNs::Refused,
              firstRow);
}

void checkEnough(const MatrixView &base, uint32_t nLists) {
  if (base.rows < nLists)
    throw ArgumentError(ErrorKind::Input, {"base"},
                        ": it has " + std::to_string(base.rows) + " rows, fewer than the " +
                            std::to_string(nLists) + " lists; ask for at most " +
                            std::to_string(base.rows));
}

void checkCenters(const std::vector<float> &centers, int32_t dims) {
  for (size_t i = 0; i < centers.size(); ++i)
    if (!std::isfinite(centers[i]))
      throw ArgumentError(ErrorKind::Input, {"base"},
                          ": center " + std::to_string(i / size_t(dims)) +
                              " of k-means overflows float32 in dim " +
                              std::to_string(i % size_t(dims)) + "; scale the vectors down");
}

Index Index::build(const IndexParams &given, const MatrixView &base, const Progress &progress) {
  const IndexParams params = checkedParams(given, base);
  if (params.deviceMemoryLimit != 0)
    throw Error(ErrorKind::Usage, "device_memory_limit is " +
                                      std::to_string(params.deviceMemoryLimit) +
                                      ", but the index is built on the CPU; leave it out");
  checkBase(base, params);
  checkEnough(base, params.nLists);
  Index index;
  index.element_ = base.element;
  index.dims_ = index.centers_.dims = base.dims;
  index.metric_ = params.metric;
  index.adaptive_ = params.adaptiveCenters;
  index.threads_ = params.threads;
  if (params.missingValues)
    index.centers_.fill = meansOfPresent(base, params.threads), index.missing_ = true;
  index.centers_.values = trainCenters({params.nLists, params.metric, params.kmeansIterations,
                                        params.kmeansTrainsetFraction, params.seed, params.threads},
                                       base, index.centers_.fill, progress);
  checkCenters(index.centers_.values, base.dims);
  index.lists_.resize(params.nLists);
  index.generation_ = nextGeneration();
  if (params.addData)
    index.extend(base, {}, progress);
  return index;
}

void Index::checkNewRows(const MatrixView &rows, const NewIds &newIds) const {
  checkShape(rows, newIds.ids || size_ != 0 ? "rows to add" : "base");
  if (rows.element != element_ || rows.dims != dims_)
    throw ArgumentError(ErrorKind::Input, {"rows to add"},
                        ": " + std::to_string(rows.dims) + " dims of " + toString(rows.element) +
                            ", the index holds " + std::to_string(dims_) + " dims of " +
                            toString(element_));
  const int64_t *ids = newIds.ids;
  if (ids)
    checkIds({ids, size_t(rows.rows)});
  checkColumns(columnsWith(newIds), newIds.columns ? *newIds.columns : NewColumns{}, rows.rows);
  if (!ids && rows.rows > INT64_MAX - rowExtent())
    throw ArgumentError(ErrorKind::Input, {"rows to add"},
                        ": the largest id of the index is " + std::to_string(largestId_) +
                            ", so no larger ids are left; give ids");
}

void Index::changeTo(std::shared_ptr<ListsElsewhere> lists, int64_t size, int64_t largestId,
                     std::vector<float> centers, std::vector<ListColumns> columns) {
  auto attachments = std::make_shared<IndexAttachments>();
  elsewhere_ = std::move(lists);
  columnValues_ = std::move(columns);
  size_ = size, largestId_ = largestId;
  if (!centers.empty())
    centers_.values = std::move(centers);
  sums_.clear();
  changed(std::move(attachments));
}

void Index::extend(const MatrixView &rows, const NewIds &newIds, const Progress &progress) {
  const int64_t *ids = newIds.ids;
  const char *what = ids || size_ != 0 ? "rows to add" : "base";
  checkShape(rows, what);
  checkFinite(rows, what, threads_, missingValues() ? NaNs::Missing : NaNs::Refused);
  checkNewRows(rows, newIds);
  if (ids && !newIds.allowRepeated)
    refuseRepeatedIds(*this, ids, rows.rows, threads_);

  // Which list each row goes to: the long part, and the one that may be interrupted.
  const AssignBy by = AssignBy::of(metric_);
  const CoarseRanker ranker(centers_, by.metric, by.order);
  std::vector<uint32_t> assigned(static_cast<size_t>(rows.rows));
  constexpr int64_t kPiece = 32768;
  for (int64_t begin = 0; begin < rows.rows; begin += kPiece) {
    report(progress, "add", double(begin) / double(rows.rows));
    const int64_t count = std::min(kPiece, rows.rows - begin);
    const char *data = static_cast<const char *>(rows.data) + begin * rowBytes(rows);
    ranker.assign({data, count, rows.dims, rows.element}, assigned.data() + begin, threads_);
  }
  append(rows, newIds, assigned, progress);
}

void Index::append(const MatrixView &rows, const NewIds &newIds,
                   const std::vector<uint32_t> &assigned, const Progress &progress) {
  const int64_t first = rowExtent();
  const int64_t *ids = newIds.ids;
  const NewMembers added(assigned, nLists());
  // All memory first: once a list has changed, nothing may fail.
  takeLists();
  auto attachments = std::make_shared<IndexAttachments>();
  std::vector<double> sums;
  std::vector<float> centers;
  if (adaptive_) {
    sums = sums_.empty() ? sumsOfLists(*this, threads_) : sums_;
    addToSums(sums, rows, added, *this, threads_);
    centers = meansOf(sums, *this, added);
  }
  const int32_t wordsOfRow = words();
  std::vector<Column> columns = columnsWith(newIds);
  if (columns_.empty() && !columns.empty())
    columnValues_.assign(nLists(), ListColumns(columns.size()));
  for (uint32_t l = 0; l < nLists(); ++l) {
    const int64_t size = lists_[l].size + added.count(l);
    const int64_t groups = groupsOf(size);
    lists_[l].words.reserve(static_cast<size_t>(groups * wordsOfRow * kGroupRows));
    lists_[l].ids.reserve(static_cast<size_t>(groups * kGroupRows));
    for (size_t c = 0; c < columns.size(); ++c)
      columnValues_[l][c].reserve(static_cast<size_t>(size) * bytesOf(columns[c].element));
  }
  report(progress, "add", 1); // The last chance to stop.
  parallelFor(threads_, nLists(), [&](int64_t l, int) {
    List &list = lists_[static_cast<size_t>(l)];
    const std::span<const int64_t> members = added.of(static_cast<uint32_t>(l));
    int64_t position = list.size;
    list.size += static_cast<int64_t>(members.size());
    resizeZeroed(list.words, static_cast<size_t>(list.groups() * wordsOfRow * kGroupRows));
    list.ids.resize(static_cast<size_t>(list.groups() * kGroupRows), -1);
    for (const int64_t row : members) {
      storeRow(static_cast<const char *>(rows.data) + row * rowBytes(rows), rowBytes(rows),
               wordsOfRow, position, list.words);
      list.ids[static_cast<size_t>(position++)] = ids ? ids[row] : first + row;
    }
    for (size_t c = 0; c < columns.size(); ++c)
      appendValues(columnValues_[static_cast<size_t>(l)][c], newIds.columns->values[c], members);
  });
  columns_ = std::move(columns);
  for (int64_t row = 0; row < rows.rows; ++row)
    largestId_ = std::max(largestId_, ids ? ids[row] : first + row);
  size_ += rows.rows;
  if (adaptive_)
    centers_.values = std::move(centers), sums_ = std::move(sums);
  changed(std::move(attachments));
}

} // namespace annudf::runtime
