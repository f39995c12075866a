//===- FamilyCosts.h - What the CUDA families' costs are made of -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs are in readings of all rows, times the lists. A list is read again for every so many of its
// pairs: as its rows have as many queries as it has pairs, the mean over all rows of what that
// costs is taken for that of the mean number of queries a row. It is exact for `pairs`; families
// that share a reading lose a little by it where lists have both fewer and more pairs than share
// one.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILYCOSTS_H
#define ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILYCOSTS_H

#include "Families.h"
#include "kernels/cuda/common/ProductArgs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace annudf::runtime::cuda {

inline std::string perList(const Workload &work) {
  constexpr double kTold = 1.25; // Lists of training are less unequal, but for hubs.
  char text[64];
  const int size = std::snprintf(text, sizeof text, "%.3g queries a list", work.pairsPerList());
  if (work.queriesPerRow() >= kTold * work.pairsPerList())
    std::snprintf(text + size, sizeof text - size_t(size), ", %.3g a row", work.queriesPerRow());
  return text;
}

/// The share of `rows` together that is scanned, and for the rest what asking its rows costs, as
/// measured: `asking` of a reading. \param queries  that are scanned together, at most.
inline double shareOf(const Workload &work, int32_t rows, double asking, int32_t queries = 1) {
  const double abreast = std::clamp(work.queriesPerRow(), 1.0, double(queries));
  const double passing = work.groupsThatPass(work.passByQuery ? int32_t(rows * abreast) : rows);
  return passing + asking * (1 - passing);
}

/// A query's coordinates in shared memory, 4 bytes each whatever the compute type (Scan.cu).
inline uint64_t bytesOfQuery(const Workload &work) {
  return (static_cast<uint64_t>(work.dims) + 3) / 4 * 16;
}

/// What each pair reads for itself, but for groups without a row that passes.
inline double readingsOfPairs(const Workload &work) {
  constexpr double kAsking = 0.05;
  return work.lists * work.queriesPerRow() * shareOf(work, kGroupRows, kAsking);
}

/// How much of a reading of all rows takes no longer for more rows: 0 up to those that costs were
/// measured of, near 1 of many times as many.
inline double shareOfMoreRows(const Workload &work) {
  constexpr double kMeasured = double(uint64_t(512) << 20);
  const double bytes = double(work.rows) * double(work.rowBytes);
  return bytes > kMeasured ? 1 - kMeasured / bytes : 0;
}

/// The share of a read that skipping lists that no query probes saves. Worth the lookup only
/// for large indexes.
inline double readingOfNobody(const Workload &work) {
  return shareOfMoreRows(work) * std::exp(-work.queriesPerRow());
}

/// What pairs read of which `abreast` share a reading. \param sorting  what sorting them costs.
inline double readingsOfTiles(const Workload &work, double abreast, double sorting) {
  constexpr double kAsking = 0.22, kOfSorting = 0.3;
  const double read = std::max(1.0, work.queriesPerRow() / abreast) - readingOfNobody(work);
  return work.lists * (read * shareOf(work, kGroupRows, kAsking, kTileQueries) + sorting -
                       shareOfMoreRows(work) * kOfSorting);
}

/// The same where all rows are brought to shared memory, and what a warp has of them is computed
/// if one passes.
inline double readingsOfStages(const Workload &work, double abreast, double sorting,
                               double asking) {
  constexpr int32_t kRowsOfWarp = ANNUDF_STAGED_WARP_GROUPS * kGroupRows;
  const double computed =
      work.queriesPerRow() / abreast * shareOf(work, kRowsOfWarp, asking, kTileQueries);
  return work.lists *
         (std::max(1.0, computed) - readingOfNobody(work) + sorting * (1 - shareOfMoreRows(work)));
}

/// Whether hooks can find the rows of the best keys, and give these the same bits once more.
inline bool isForGranules(const Workload &work) {
  return work.fusedAhead && work.widths == HookWidths{32, 32, static_cast<AccumulatorForm>('a')} &&
         work.k <= ANNUDF_SURVIVORS_MOST_K && !work.everyDistance;
}

/// What it costs to evaluate the rows of the k best granules of each query once more, in readings:
/// as measured (docs/results/reasons.md, "Keys of granules"), by itself each.
inline double costOfGranules(const Workload &work) {
  constexpr double kOfReading = 1.1;
  const double rows = double(work.k) * ANNUDF_GRANULE_ROWS * double(work.queries);
  return work.rows == 0 ? 0 : work.lists * (rows / double(work.rows)) * kOfReading;
}

/// What a batch costs by `cost` whose scan leaves `bytes`, cut so that each part's are within the
/// workspace.
template <class Cost>
double inParts(const Workload &work, uint64_t workspaceBytes, double bytes, Cost cost) {
  if (workspaceBytes == 0 || bytes <= double(workspaceBytes))
    return cost(work);
  const double batches = std::min(std::ceil(bytes / double(workspaceBytes)),
                                  double(std::max<int64_t>(work.queries, 1)));
  Workload part = work;
  part.queries = std::max<int64_t>(1, std::llround(double(work.queries) / batches));
  return batches * cost(part);
}

/// What a scan costs by `cost` that leaves a word of 32 bits for every `rowsOfWord` rows and query:
/// a batch is cut so that these are within the workspace, and a list's rows are then read for each
/// part, which has fewer queries. Every row's word, where granules' would do and it takes more than
/// what is usual, counts more than its time: it takes gigabytes.
template <class Cost>
double inBatches(const Workload &work, const Machine &machine, int rowsOfWord, Cost cost) {
  constexpr double kBytes = 4.125; // A row: its word and a 32nd of a group's.
  constexpr double kRoom = 1.4;    // A query has room for lists as large as there are, as measured.
  constexpr double kWorth = 1.3;   // As much time is better spent.
  const double bytes = kRoom * kBytes / rowsOfWord * work.queriesPerRow() * double(work.rows);
  const uint64_t most = workspaceOf(work, machine, rowsOfWord == 1);
  const double taken = most ? std::min(bytes, double(most)) : bytes;
  const bool isLarge =
      rowsOfWord == 1 && isForGranules(work) && taken > kRoom * double(kUsualWorkspace);
  return (isLarge ? kWorth : 1) * inParts(work, most, bytes, cost);
}

/// The reason where a block has less than that.
template <class... More>
Refusal unfitBytes(Reason reason, uint64_t bytes, const Machine &machine, More... more) {
  return bytes <= machine.sharedBytes ? Refusal()
                                      : Refusal(reason, bytes, machine.sharedBytes, more...);
}

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_PLAN_FAMILYCOSTS_H
