//===- GatheredRows.h - Candidates copied from where they are ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_GATHEREDROWS_H
#define ANNUDF_RUNTIME_LIB_ENGINE_GATHEREDROWS_H

#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Parallel.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace annudf::runtime {

/// The candidates of some queries, copied from a data set or an index.
class GatheredRows final : public RowStore {
public:
  /// What all rows share.
  struct Kind {
    annudf_element element;
    int32_t dims;
    int64_t largestId;
    bool missingValues;
  };
  /// \param columns  candidates of a query. \param source  as of RowStore.
  GatheredRows(const Kind &kind, int64_t columns, int64_t queries, const RowStore *source) {
    element_ = kind.element, dims_ = kind.dims, largestId_ = kind.largestId;
    missing_ = kind.missingValues && kindOf(kind.element) == NumberKind::Float;
    holdsCandidates_ = true, source_ = source;
    lists_.resize(static_cast<size_t>(queries));
    if (source)
      slots_.resize(lists_.size());
    size_ = columns; // Until rows are counted.
    changed(std::make_shared<IndexAttachments>());
  }

  /// Sets a list.
  /// \param numbers  of rows as `from` has them, each once.
  /// \param from     has idOf(number), and copyTo(number, words), which writes word w of the row to
  /// words[w * kGroupRows]; zeros are there.
  template <class From> void fill(size_t list, std::vector<int64_t> numbers, const From &from) {
    List &to = lists_[list];
    to.size = static_cast<int64_t>(numbers.size());
    const auto places = static_cast<size_t>(to.groups() * kGroupRows);
    to.ids.resize(places, -1);
    resizeZeroed(to.words, places * static_cast<size_t>(words()));
    for (int64_t i = 0; i < to.size; ++i) {
      to.ids[size_t(i)] = from.idOf(numbers[size_t(i)]);
      from.copyTo(numbers[size_t(i)],
                  to.words.data() + i / kGroupRows * kGroupRows * words() + i % kGroupRows);
    }
    if (source()) {
      numbers.resize(places, -1);
      slots_[list] = std::move(numbers);
    }
  }

  /// A search takes k up to the candidates that a query was given, whether or not they are -1.
  void count() {
    for (const List &list : lists_)
      rows_ += list.size;
    size_ = std::max(size_, rows_);
  }

  const int64_t *slotsInSource(uint32_t list) const override {
    return slots_.empty() ? nullptr : slots_[list].data();
  }

private:
  int64_t rows_ = 0;
  std::vector<std::vector<int64_t>> slots_;
};

/// Such a store, whose lists are filled some queries at a time by each thread.
/// \param numbersOf  of a query from 0 on.
template <class From, class NumbersOf>
std::unique_ptr<const RowStore> gatherRows(const GatheredRows::Kind &kind, int64_t columns,
                                           int64_t queries, const RowStore *source, int threads,
                                           const From &from, const NumbersOf &numbersOf) {
  constexpr int64_t kTask = 2048; // Candidates.
  auto store = std::make_unique<GatheredRows>(kind, columns, queries, source);
  const int64_t together = std::max<int64_t>(1, kTask / std::max<int64_t>(1, columns));
  parallelFor(threads, (queries + together - 1) / together, [&](int64_t task, int) {
    for (int64_t q = task * together; q < std::min(queries, (task + 1) * together); ++q)
      store->fill(static_cast<size_t>(q), numbersOf(q), from);
  });
  store->count();
  return store;
}

/// A row-major row to the places of its words.
inline void copyRowTo(const std::byte *row, int64_t bytes, uint32_t *words) {
  const int64_t whole = bytes / 4;
  for (int64_t w = 0; w < whole; ++w)
    std::memcpy(words + w * kGroupRows, row + w * 4, 4);
  if (bytes % 4 != 0) // Coordinates fill a word from its least significant byte.
    std::memcpy(words + whole * kGroupRows, row + whole * 4, static_cast<size_t>(bytes % 4));
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_ENGINE_GATHEREDROWS_H
