//===- NanExample.cpp - A pair whose distance is NaN ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Columns.h"
#include "annudf/runtime/engine/Explain.h"

#include <cmath>

namespace annudf::runtime {

namespace {

/// A row by its id, as the index keeps it.
struct FoundRow {
  std::vector<uint32_t> words;
  int64_t list = -1; ///< -1: there is none.
  int64_t place = 0; ///< In its list.
};

FoundRow rowOf(const RowStore &index, int64_t id) {
  FoundRow found;
  if (const RowsInPlace *const rows = index.rowsInPlace()) {
    const int64_t number = rows->numberOf(id);
    return number < 0 ? found : rowOf(*rows->piece(number, 1, {}), id);
  }
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    const List &list = index.list(l);
    for (int64_t row = 0; row < list.size; ++row)
      if (list.ids[static_cast<size_t>(row)] == id) {
        const int64_t words = index.words();
        for (int64_t w = 0; w < words; ++w)
          found.words.push_back(list.words[static_cast<size_t>(
              (row / kGroupRows * words + w) * kGroupRows + row % kGroupRows)]);
        found.list = l, found.place = row;
        return found;
      }
  }
  return found;
}

} // namespace

std::string nanExample(const RowStore &index, const MetricView &metric,
                       const BoundCaptures &captures, const MatrixView &queries,
                       const SearchStats &stats) {
  std::string text =
      "query " + std::to_string(stats.nanQuery) + ", row " + std::to_string(stats.nanRow);
  const FoundRow found = rowOf(index, stats.nanRow);
  if (found.list < 0 || stats.nanQuery < 0 || stats.nanQuery >= queries.rows)
    return text;
  try {
    MatrixView query = queries;
    query.data = static_cast<const std::byte *>(queries.data) +
                 stats.nanQuery * bytesOfRow(queries.element, queries.dims);
    query.rows = 1;
    const StoreCaptures ofStore(index, metric.artifact.manifest, captures);
    const int64_t number =
        ofStore.bySlot() ? ofStore.firstSlots()[size_t(found.list)] + found.place : stats.nanRow;
    const Explanation told = explain(metric, ofStore.get(), query,
                                     {found.words.data(), 1, index.dims(), index.element()},
                                     {stats.nanQuery, number, found.list});
    if (std::isnan(told.distance))
      text += ": " + told.nanText();
  } catch (const Error &) {
    // A metric without code for CPUs: the pair is told all the same.
  }
  return text;
}

} // namespace annudf::runtime
