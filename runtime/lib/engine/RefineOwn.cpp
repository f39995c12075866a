//===- RefineOwn.cpp - Candidates among the rows of an index --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Refine.h"

#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/rows/SlotsOfIds.h"
#include "engine/FirstWrong.h"
#include "engine/GatheredRows.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <utility>

namespace annudf::runtime {
namespace {

/// Rows that are somebody else's memory.
struct RowsAt {
  const RowsInPlace &rows;
  int64_t bytes = rowBytes(rows.rows());

  int64_t idOf(int64_t slot) const { return rows.idOf(slot); }
  void copyTo(int64_t slot, uint32_t *words) const {
    copyRowTo(static_cast<const std::byte *>(rows.rows().data) + slot * bytes, bytes, words);
  }
};

/// Rows in the lists of an index.
struct ListedRows {
  const std::vector<List> &lists;
  std::vector<int64_t> firstSlots;
  int64_t words;

  explicit ListedRows(const RowStore &index)
      : lists(index.lists()), firstSlots(firstSlotsOf(index)), words(index.words()) {}

  /// The list of a slot, and the place there.
  std::pair<const List &, int64_t> at(int64_t slot) const {
    const auto next = std::upper_bound(firstSlots.begin(), firstSlots.end(), slot);
    return {lists[size_t(next - firstSlots.begin() - 1)], slot - *(next - 1)};
  }
  int64_t idOf(int64_t slot) const {
    const auto [list, place] = at(slot);
    return list.ids[size_t(place)];
  }
  void copyTo(int64_t slot, uint32_t *to) const {
    const auto [list, place] = at(slot);
    const uint32_t *row =
        list.words.data() + place / kGroupRows * kGroupRows * words + place % kGroupRows;
    for (int64_t w = 0; w < words; ++w)
      to[w * kGroupRows] = row[w * kGroupRows];
  }
};

} // namespace

std::vector<uint32_t> slotsOfCandidates(const CandidateRows &candidates, const SlotsOfIds &rows,
                                        int threads) {
  const int64_t all = candidates.queries * candidates.columns;
  std::vector<uint32_t> slots(static_cast<size_t>(all));
  const int64_t at = firstWrong(all, threads, [&](int64_t i) {
    const int64_t id = candidates.ids[i];
    slots[size_t(i)] = id == -1 ? SlotsOfIds::kNone : rows.slotOf(id);
    return id != -1 && slots[size_t(i)] == SlotsOfIds::kNone;
  });
  if (at != all)
    refuseUnknownId(at / candidates.columns, at % candidates.columns, candidates.ids[at]);
  return slots;
}

std::unique_ptr<const RowStore> gatherCandidates(const RowStore &index,
                                                 std::span<const uint32_t> slots, int64_t columns,
                                                 int threads, const Progress &progress) {
  report(progress, "search", 0);
  const auto numbersOf = [&](int64_t q) {
    std::vector<int64_t> numbers;
    for (const uint32_t slot : slots.subspan(size_t(q * columns), size_t(columns)))
      if (slot != SlotsOfIds::kNone)
        numbers.push_back(slot);
    return distinctCandidates(numbers);
  };
  const int64_t queries = int64_t(slots.size()) / columns;
  const GatheredRows::Kind kind = {index.element(), index.dims(), index.largestId(),
                                   index.missingValues()};
  if (const RowsInPlace *const rows = index.rowsInPlace())
    return gatherRows(kind, columns, queries, &index, threads, RowsAt{*rows}, numbersOf);
  return gatherRows(kind, columns, queries, &index, threads, ListedRows(index), numbersOf);
}

std::unique_ptr<const RowStore> gatherPassing(const RowStore &index, const RowFilter &filter,
                                              int64_t k) {
  const std::vector<int64_t> firstSlots = firstSlotsOf(index);
  std::vector<int64_t> slots;
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    const List &list = index.list(l);
    for (int64_t i = 0; i < list.size; ++i)
      if (filter.passes(list.ids[size_t(i)]))
        slots.push_back(firstSlots[l] + i);
  }
  const int64_t columns = std::max(k, std::ssize(slots));
  return gatherRows({index.element(), index.dims(), index.largestId(), index.missingValues()},
                    columns, 1, &index, 1, ListedRows(index),
                    [&](int64_t) { return std::move(slots); });
}

void refineOwn(Backend &backend, const RowStore &index, const CandidateRows &candidates,
               const MetricView &metric, const BoundCaptures &captures, const MatrixView &queries,
               int64_t k, const SearchParams &params, int64_t *ids, float *distances,
               SearchStats *stats, int threads) {
  checkRefine(index, queries, candidates.queries, candidates.columns, k);
  if (threads == 0) // As many as search.
    threads = backend.machine().processors;
  const std::vector<uint32_t> slots =
      slotsOfCandidates(candidates, *SlotsOfIds::of(index), threads);
  const int64_t columns = candidates.columns;
  searchByQueries(
      queries, bytesOfCandidates({nullptr, index.size(), index.dims(), index.element()}, columns),
      [&](int64_t first, int64_t count, const Progress &progress) {
        return gatherCandidates(
            index, std::span(slots).subspan(size_t(first * columns), size_t(count * columns)),
            columns, threads, progress);
      },
      [&](const RowStore &store, const MatrixView &some, int64_t first, const SearchParams &of,
          SearchStats *cost) {
        backend.search(store, metric, captures, some, static_cast<int>(k), of, ids + first * k,
                       distances + first * k, cost);
      },
      params, stats, int64_t(RowPieces::kBytes));
}

} // namespace annudf::runtime
