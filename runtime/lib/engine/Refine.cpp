//===- Refine.cpp - Candidates of other indexes, ranked again -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Refine.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/engine/QueryPart.h"
#include "annudf/runtime/engine/SearchRows.h"
#include "engine/FirstWrong.h"
#include "engine/GatheredRows.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

/// Rows of a data set by their numbers.
struct DatasetRows {
  const MatrixView &rows;
  NaNs nans;
  int64_t bytes = rowBytes(rows);

  int64_t idOf(int64_t number) const { return number; }
  void copyTo(int64_t number, uint32_t *words) const {
    const std::byte *row = static_cast<const std::byte *>(rows.data) + number * bytes;
    checkFinite({row, 1, rows.dims, rows.element}, "dataset", 1, nans, number);
    copyRowTo(row, bytes, words);
  }
};

[[noreturn]] void refuse(ErrorKind kind, ArgumentFault fault, const std::string &rest) {
  throw ArgumentError(kind, std::move(fault), rest);
}

} // namespace

/// \param of  what has the rows: "dataset" or "index".
static void checkShapes(const std::string &of, int32_t dims, const MatrixView &queries,
                        int64_t candidateQueries, int64_t columns, int64_t k) {
  using enum ErrorKind;
  if (dims != queries.dims)
    refuse(Input, {"queries"},
           " have " + std::to_string(queries.dims) + " dims, the " + of + " has " +
               std::to_string(dims));
  if (candidateQueries != queries.rows)
    refuse(Input, {"candidates", std::to_string(candidateQueries), std::to_string(queries.rows)},
           " have " + std::to_string(candidateQueries) + " rows, there are " +
               std::to_string(queries.rows) + " queries; give one row a query");
  if (columns < 1)
    refuse(Input, {"candidates"}, " have no columns; give each query at least one, or -1");
  checkK(k);
  if (k > columns) {
    const std::string given = std::to_string(k), most = std::to_string(columns);
    refuse(Usage, {"k", given, "an integer from 1 to " + most},
           " is " + given + ", but a query has " + most +
               " candidates; ask for fewer, or give more");
  }
}

void checkRefine(const MatrixView &rows, const MatrixView &queries, int64_t candidateQueries,
                 int64_t columns, int64_t k) {
  if (rows.rows <= 0)
    refuse(ErrorKind::Input, {"dataset"}, ": there are 0 rows; give at least one");
  checkShapes("dataset", rows.dims, queries, candidateQueries, columns, k);
}

void checkRefine(const RowStore &index, const MatrixView &queries, int64_t candidateQueries,
                 int64_t columns, int64_t k) {
  if (index.size() <= 0)
    refuse(ErrorKind::Input, {"index"}, ": there are 0 rows; add some first");
  checkShapes("index", index.dims(), queries, candidateQueries, columns, k);
}

void checkCandidateRows(const CandidateRows &candidates, int64_t rows, int threads) {
  const int64_t all = candidates.queries * candidates.columns;
  const int64_t at = firstWrong(
      all, threads, [&](int64_t i) { return candidates.ids[i] < -1 || candidates.ids[i] >= rows; });
  if (at != all)
    refuseCandidate(at / candidates.columns, at % candidates.columns, candidates.ids[at], rows);
}

void refuseCandidate(int64_t query, int64_t column, int64_t id, int64_t rows) {
  const std::string value = std::to_string(id), allowed = "-1 to " + std::to_string(rows - 1);
  refuse(ErrorKind::Input, {"candidates", value, allowed},
         "[" + std::to_string(query) + ", " + std::to_string(column) + "] is " + value +
             ", the dataset has " + std::to_string(rows) + " rows; give " + allowed +
             ", where -1 is none");
}

void refuseUnknownId(int64_t query, int64_t column, int64_t id) {
  const std::string value = std::to_string(id);
  refuse(ErrorKind::Input, {"candidates", value, "ids of the index, or -1"},
         "[" + std::to_string(query) + ", " + std::to_string(column) + "] is " + value +
             ", which is no id of the index; give ids of its rows, or -1 for none");
}

std::vector<int64_t> distinctCandidates(std::span<const int64_t> candidates) {
  std::vector<int64_t> ids;
  std::ranges::copy_if(candidates, std::back_inserter(ids), [](int64_t id) { return id >= 0; });
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

int64_t bytesOfCandidates(const MatrixView &rows, int64_t columns) {
  const int64_t most = std::min(columns, rows.rows);
  return groupsOf(most) * kGroupRows * int64_t(wordsPerRow(rows.element, rows.dims)) * 4;
}

void searchByQueries(const MatrixView &queries, int64_t bytesOfQuery, const StoreOfQueries &store,
                     const SearchOfQueries &search, const SearchParams &params, SearchStats *stats,
                     int64_t bytesOfPiece) {
  const int64_t total = queries.rows;
  const int64_t most = std::max<int64_t>(1, bytesOfPiece / std::max<int64_t>(1, bytesOfQuery));
  const int64_t pieces = (total + most - 1) / most;
  std::vector<uint32_t> own(static_cast<size_t>(std::min(most, total)));
  std::iota(own.begin(), own.end(), 0);
  SearchStats cost{.passingShare = 0};
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t first = total * piece / pieces, count = total * (piece + 1) / pieces - first;
    const auto told = [&](double done) {
      return !params.progress ||
             params.progress("search", (double(first) + double(count) * done) / double(total));
    };
    const auto rows = store(first, count, [&](const char *, double) { return told(0); });
    const QueryPart part = {first, count};
    SearchParams some = partOf(params, part, total);
    some.candidates = Given{own.data(), 1};
    // To a caller there is one search.
    some.progress = [&](const char *, double done) { return told(done); };
    SearchStats ofPiece;
    search(*rows, partOf(queries, part), first, some, stats ? &ofPiece : nullptr);
    const double share = double(count) / double(total),
                 passing = cost.passingShare + ofPiece.passingShare * share;
    addPart(cost, ofPiece, share);
    cost.passingShare = passing;
  }
  if (stats)
    *stats = std::move(cost);
}

std::unique_ptr<const RowStore> gatherCandidates(const MatrixView &rows,
                                                 const CandidateRows &candidates, int64_t first,
                                                 int64_t count, bool missingValues, int threads,
                                                 const Progress &progress) {
  report(progress, "search", 0);
  const int64_t columns = candidates.columns;
  const bool missing = missingValues && kindOf(rows.element) == NumberKind::Float;
  return gatherRows({rows.element, rows.dims, rows.rows - 1, missingValues}, columns, count,
                    nullptr, threads, DatasetRows{rows, missing ? NaNs::Missing : NaNs::Refused},
                    [&](int64_t q) {
                      return distinctCandidates(
                          {candidates.ids + (first + q) * columns, static_cast<size_t>(columns)});
                    });
}

void refine(Backend &backend, const MatrixView &rows, const CandidateRows &candidates,
            const MetricView &metric, const BoundCaptures &captures, const MatrixView &queries,
            int64_t k, const SearchParams &params, int64_t *ids, float *distances,
            SearchStats *stats, int threads) {
  checkRefine(rows, queries, candidates.queries, candidates.columns, k);
  checkRowsOfCall(captures, params, rows.rows);
  if (threads == 0) // As many as search.
    threads = backend.machine().processors;
  checkCandidateRows(candidates, rows.rows, threads);
  const bool missing = metric.artifact.manifest.missingValues;
  searchByQueries(
      queries, bytesOfCandidates(rows, candidates.columns),
      [&](int64_t first, int64_t count, const Progress &progress) {
        return gatherCandidates(rows, candidates, first, count, missing, threads, progress);
      },
      [&](const RowStore &store, const MatrixView &some, int64_t first, const SearchParams &of,
          SearchStats *cost) {
        backend.search(store, metric, captures, some, static_cast<int>(k), of, ids + first * k,
                       distances + first * k, cost);
      },
      params, stats, int64_t(RowPieces::kBytes));
}

} // namespace annudf::runtime
