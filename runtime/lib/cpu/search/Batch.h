//===- Batch.h - Queries that are searched together ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_BATCH_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_BATCH_H

#include "Queries.h"
#include "TopK.h"

#include "annudf/runtime/engine/Search.h"
#include "kernels/cpu/ScanArgs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace annudf::runtime::cpu {

/// Memory that one batch of queries may take, unless a single query needs more.
inline constexpr int64_t kBatchBytes = int64_t(64) << 20;
inline constexpr int64_t kMaxBatch = 8192;

/// \param rows        of the index.
/// \param queryBytes  of a query's coordinates.
inline int64_t queriesPerBatch(int k, int64_t rows, uint32_t nProbes, int64_t queryBytes) {
  // A pair of query and list: list, query twice, and where its coordinates and integers are.
  constexpr int64_t kPairBytes = 3 * sizeof(int32_t) + 2 * sizeof(void *);
  const int64_t bytes = TopK::bytesPerQuery(k, rows) + kPairBytes * nProbes + queryBytes;
  return std::clamp<int64_t>(kBatchBytes / bytes, 1, kMaxBatch);
}

/// Queries searched together.
struct Batch {
  int64_t first; ///< Place in the user's batch.
  int64_t size;
  QueryCoordinates coordinates;
  std::vector<int64_t> listBegin; ///< Pairs of list l: [listBegin[l], listBegin[l + 1]).
  std::vector<int32_t> pairs;     ///< Queries by list, numbered within the batch.
  double before = 0, share = 1;   ///< Shares of the batch's pairs sorted before, and now.

  /// \param queries  those of the batch.
  Batch(const MatrixView &queries, annudf_compute compute, int64_t first)
      : first(first), size(queries.rows), coordinates(queries, compute) {}

  /// The pairs of each query's probes [from, to).
  void sortByList(uint32_t nLists, const std::vector<uint32_t> &probes, uint32_t nProbes,
                  uint32_t from, uint32_t to);
};

/// Groups [first, first + count) of a list, and the pairs that probe the list.
struct Task {
  uint32_t list;
  int64_t firstGroup, groups;
  int64_t cost;
};

/// One task a list, large lists cut so that all threads end together.
/// \param steps  of a coordinate.
std::vector<Task> tasksOf(const RowStore &index, const Batch &batch, int threads, int64_t steps);

/// The rows that a task scans; the queries are the caller's to add.
annudf_cpu_scan scanOf(const RowStore &index, const Task &task);

/// Marks which rows of each group that a task scans pass the filter.
void markPassing(const RowFilter &filter, const annudf_cpu_scan &scan, std::vector<uint32_t> &pass);

/// Whether a row, by its number in the scan, exists and the i-th query may find it.
inline bool passes(const annudf_cpu_scan &scan, int32_t i, int64_t row) {
  const int64_t group = row / kGroupRows;
  const uint32_t bit = uint32_t(1) << (row % kGroupRows);
  return row < scan.size && (!scan.pass || (scan.pass[group] & bit) != 0) &&
         (!scan.queryPass || (scan.queryPass[group * scan.queries + i] & bit) != 0);
}

/// A bit for each row of a scan that the i-th query may find; null: all.
/// \param words  where they are put if the scan does not have them.
inline const uint32_t *passingOf(const annudf_cpu_scan &scan, int32_t i,
                                 std::vector<uint32_t> &words) {
  if (!scan.queryPass)
    return scan.pass;
  words.resize(size_t(groupsOf(scan.size)));
  for (size_t group = 0; group < words.size(); ++group)
    words[group] = scan.queryPass[group * size_t(scan.queries) + size_t(i)] &
                   (scan.pass ? scan.pass[group] : ~uint32_t(0));
  return words.data();
}

/// A part of a scan that begins with its group `first` passes what the scan does.
inline void takePass(annudf_cpu_scan &part, const annudf_cpu_scan &scan, int64_t first) {
  if (scan.pass)
    part.pass = scan.pass + first;
  if (scan.queryPass)
    part.queryPass = scan.queryPass + first * scan.queries;
}

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_BATCH_H
