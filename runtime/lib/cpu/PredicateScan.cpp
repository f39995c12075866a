//===- PredicateScan.cpp - Which rows of a scan each query may find -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PredicateScan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace annudf::runtime::cpu {

namespace {

int64_t rowsOfGroup(const annudf_cpu_scan &scan, int64_t group) {
  return std::min<int64_t>(kGroupRows, scan.size - group * kGroupRows);
}

/// The same for all queries.
void takeFilter(const RowFilter &filter, const annudf_cpu_scan &scan, uint32_t *words,
                std::vector<uint32_t> &pass) {
  markPassing(filter, scan, pass);
  for (size_t group = 0; group < pass.size(); ++group)
    std::fill_n(words + int64_t(group) * scan.queries, scan.queries, pass[group]);
}

/// 32 bits from bit `first` on, fewer at the end of the words.
uint32_t wordFrom(const std::vector<uint32_t> &words, int64_t first) {
  const auto word = static_cast<size_t>(first / 32);
  const auto shift = static_cast<unsigned>(first % 32);
  const uint64_t low = words[word], high = word + 1 < words.size() ? words[word + 1] : 0;
  return static_cast<uint32_t>((high << 32 | low) >> shift);
}

void takeBitmap(const QueryBitmap &bitmap, const annudf_cpu_scan &scan, uint32_t *words) {
  for (int64_t group = 0; group < groupsOf(scan.size); ++group, words += scan.queries) {
    const int64_t *const ids = scan.ids + group * kGroupRows, rows = rowsOfGroup(scan, group);
    const bool areRun = std::adjacent_find(ids, ids + rows, [](int64_t a, int64_t b) {
                          return b != a + 1;
                        }) == ids + rows;
    for (int32_t q = 0; q < scan.queries; ++q) {
      const int64_t query = scan.query[q];
      uint32_t word = 0;
      if (areRun)
        word = wordFrom(bitmap.words(), query * bitmap.bits() + ids[0]);
      else
        for (int64_t row = 0; row < rows; ++row)
          word |= uint32_t(bitmap.passes(query, ids[row])) << row;
      words[q] = word;
    }
  }
}

/// Takes what the code keeps of a scan.
struct Kept {
  const int64_t *ids; ///< The scan's.
  int64_t size;
  int32_t queries;
  uint32_t *words;

  /// A last group that is not full has its ids elsewhere.
  static float take(void *sink, int32_t i, const int64_t *ids, const float *, uint32_t mask) {
    const Kept &kept = *static_cast<const Kept *>(sink);
    const auto from = reinterpret_cast<uintptr_t>(kept.ids), at = reinterpret_cast<uintptr_t>(ids);
    const auto rows = static_cast<uint64_t>(kept.size);
    const uint64_t row = (at - from) / sizeof(int64_t); // Large where it is below.
    const uint64_t group = at >= from && row < rows ? row / kGroupRows : (rows - 1) / kGroupRows;
    kept.words[group * static_cast<uint64_t>(kept.queries) + static_cast<uint64_t>(i)] = mask;
    return std::numeric_limits<float>::infinity();
  }
};

} // namespace

PredicateScan::PredicateScan(const RowStore &index, const Predicate &predicate,
                             const RowFilter *filter, ScanCache &kernels)
    : index_(index), predicate_(predicate), filter_(filter) {
  for (const Predicate::Step &step : predicate.steps()) {
    const auto *given = std::get_if<Predicate::Code>(&step);
    if (!given)
      continue;
    auto code = std::make_unique<Code>(index, *given);
    bool compiled = false;
    // It sees no coordinates, so one kernel serves all elements.
    code->kernel = kernels.get(MetricView(*given->filter).asFilter(), ANNUDF_ELEMENT_F32, compiled);
    if (compiled)
      linkMs_ += code->kernel->linkMs, links_ += 1;
    code_.push_back(std::move(code));
  }
}

void PredicateScan::run(const Code &code, const annudf_cpu_scan &scan, const Task &task,
                        uint32_t *words, Workspace &work) const {
  std::fill_n(words, groupsOf(scan.size) * scan.queries, 0);
  if (int64_t(work.numbers.size()) < groupsOf(scan.size) * kGroupRows) {
    work.numbers.resize(size_t(groupsOf(scan.size) * kGroupRows));
    std::iota(work.numbers.begin(), work.numbers.end(), 0);
  }
  work.limits.assign(size_t(scan.queries), std::numeric_limits<float>::infinity());
  Kept kept{scan.ids, scan.size, scan.queries, words};
  annudf_cpu_scan keep = scan;
  keep.numbers = scan.ids;
  Slots own;
  code.columns.place(keep, task, work.numbers, own);
  keep.limit = work.limits.data();
  keep.push = Kept::take, keep.sink = &kept;
  keep.nan = nullptr; // NaN is a row that is not kept.
  code.kernel->run(keep);
}

void PredicateScan::mark(annudf_cpu_scan &scan, const Task &task, Workspace &work) const {
  scan.pass = scan.queryPass = nullptr;
  if (filter_) {
    markPassing(*filter_, scan, work.pass);
    scan.pass = work.pass.data();
  }
  const int64_t groups = groupsOf(scan.size), size = groups * scan.queries;
  work.words.resize(size_t(size) * size_t(predicate_.depth()));
  work.chosen.resize(size_t(scan.queries));
  std::vector<uint32_t> ofFilter;
  uint32_t *top = work.words.data(); // The first word past the stack.
  auto code = code_.begin();
  for (const Predicate::Step &step : predicate_.steps()) {
    if (const auto *bits = std::get_if<std::shared_ptr<const RowFilter>>(&step))
      takeFilter(**bits, scan, top, ofFilter);
    else if (const auto *bitmap = std::get_if<std::shared_ptr<const QueryBitmap>>(&step))
      takeBitmap(**bitmap, scan, top);
    else if (std::holds_alternative<Predicate::Code>(step))
      run(**code++, scan, task, top, work);
    if (const auto *join = std::get_if<Predicate::Join>(&step); !join) {
      top += size;
    } else if (*join == Predicate::Join::Not) {
      std::transform(top - size, top, top - size, [](uint32_t word) { return ~word; });
    } else {
      top -= size;
      uint32_t *const a = top - size;
      if (*join == Predicate::Join::And)
        std::transform(a, top, top, a, [](uint32_t x, uint32_t y) { return x & y; });
      else
        std::transform(a, top, top, a, [](uint32_t x, uint32_t y) { return x | y; });
    }
  }
  // So that no query is chosen for a row that does not exist.
  if (const int64_t rest = scan.size % kGroupRows; rest != 0)
    for (int64_t q = size - scan.queries; q < size; ++q)
      work.words[size_t(q)] &= (uint32_t(1) << rest) - 1;
  scan.queryPass = work.words.data(), scan.chosen = work.chosen.data();
}

double PredicateScan::sampledShare(const SearchParams &params, int64_t queries) const {
  constexpr int64_t kGroups = 64, kQueries = 16;
  int64_t all = 0;
  for (uint32_t list = 0; list < index_.nLists(); ++list)
    all += index_.list(list).groups();
  const int64_t wanted = std::min(kGroups, all);
  const auto count = static_cast<int32_t>(std::min(kQueries, queries));
  std::vector<int32_t> numbers;
  for (int32_t q = 0; q < count; ++q)
    numbers.push_back(int32_t(params.firstQuery + queries * q / count));
  const std::vector<const void *> x(size_t(count), nullptr); // Code sees no coordinates.
  const std::vector<const uint32_t *> integers(size_t(count), nullptr);
  Workspace work;
  int64_t passing = 0, rows = 0, before = 0;
  uint32_t list = 0;
  for (int64_t i = 0; i < wanted; ++i) {
    const int64_t group = all * i / wanted;
    while (before + index_.list(list).groups() <= group)
      before += index_.list(list++).groups();
    const Task task{list, group - before, 1, count};
    annudf_cpu_scan scan = scanOf(index_, task);
    scan.ahead = scan.rows;
    scan.queries = count, scan.query = numbers.data();
    scan.x = x.data(), scan.integers = integers.data();
    mark(scan, task, work);
    for (int32_t q = 0; q < count; ++q)
      passing += std::popcount(scan.queryPass[q] & (scan.pass ? *scan.pass : ~uint32_t(0)));
    rows += scan.size * count;
  }
  return std::min(double(passing) / double(std::max<int64_t>(rows, 1)), std::nextafter(1.0, 0.0));
}

} // namespace annudf::runtime::cpu
