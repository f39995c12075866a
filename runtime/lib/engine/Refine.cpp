//===- Refine.cpp - Candidates of other indexes, ranked again -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Refine.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/support/Parallel.h"
#include "engine/PieceWalk.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

/// Tasks are of so many candidates.
constexpr int64_t kTask = 2048;

/// The candidates of some queries, copied from a data set.
class GatheredRows final : public RowStore {
public:
  GatheredRows(const MatrixView &rows, int64_t columns, int64_t queries, bool missingValues) {
    element_ = rows.element, dims_ = rows.dims, largestId_ = rows.rows - 1;
    missing_ = missingValues && kindOf(rows.element) == NumberKind::Float;
    holdsCandidates_ = true;
    lists_.resize(static_cast<size_t>(queries));
    size_ = columns; // Until rows are counted.
    changed(std::make_shared<IndexAttachments>());
  }

  void fill(size_t list, const MatrixView &rows, std::span<const int64_t> candidates) {
    List &to = lists_[list];
    to.ids = distinctCandidates(candidates);
    to.size = static_cast<int64_t>(to.ids.size());
    to.ids.resize(static_cast<size_t>(to.groups() * kGroupRows), -1);
    to.words.resize(static_cast<size_t>(to.groups() * kGroupRows * words()));
    for (int64_t group = 0; group < to.groups(); ++group)
      copyGroup(to, group, rows);
  }

  /// A search takes k up to the candidates that a query was given, whether or not they are -1.
  void count() {
    for (const List &list : lists_)
      rows_ += list.size;
    size_ = std::max(size_, rows_);
  }

private:
  void copyGroup(List &to, int64_t group, const MatrixView &rows) const {
    const int64_t bytes = rowBytes(rows), whole = bytes / 4;
    const auto rest = static_cast<size_t>(bytes % 4);
    const int64_t *ids = to.ids.data() + group * kGroupRows;
    uint32_t *words = to.words.data() + group * kGroupRows * this->words();
    const int64_t count = std::min<int64_t>(kGroupRows, to.size - group * kGroupRows);
    for (int64_t r = 0; r < count; ++r) {
      const std::byte *from = static_cast<const std::byte *>(rows.data) + ids[r] * bytes;
      checkFinite({from, 1, rows.dims, rows.element}, "dataset", 1,
                  missing_ ? NaNs::Missing : NaNs::Refused, ids[r]);
      for (int64_t w = 0; w < whole; ++w)
        std::memcpy(words + w * kGroupRows + r, from + w * 4, 4);
      if (rest != 0) // Coordinates fill a word from its least significant byte.
        std::memcpy(words + whole * kGroupRows + r, from + whole * 4, rest);
    }
  }

  int64_t rows_ = 0;
};

[[noreturn]] void refuse(ErrorKind kind, ArgumentFault fault, const std::string &rest) {
  throw ArgumentError(kind, std::move(fault), rest);
}

/// The statistics of pieces, by query where they are means.
void addPiece(SearchStats &all, const SearchStats &piece, double share) {
  const SearchStats before = all;
  addPieceCost(all, piece);
  all.rowsPerQuery = before.rowsPerQuery + piece.rowsPerQuery * share;
  all.evaluatedPerQuery = before.evaluatedPerQuery + piece.evaluatedPerQuery * share;
  all.passingShare = before.passingShare + piece.passingShare * share;
}

} // namespace

void checkRefine(const MatrixView &rows, const MatrixView &queries, int64_t candidateQueries,
                 int64_t columns, int64_t k) {
  using enum ErrorKind;
  if (rows.rows <= 0)
    refuse(Input, {"dataset"}, ": there are 0 rows; give at least one");
  if (rows.dims != queries.dims)
    refuse(Input, {"queries"},
           " have " + std::to_string(queries.dims) + " dims, the dataset has " +
               std::to_string(rows.dims));
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

void checkCandidateRows(const CandidateRows &candidates, int64_t rows, int threads) {
  const int64_t all = candidates.queries * candidates.columns;
  constexpr int64_t kPiece = 1 << 16;
  std::atomic<int64_t> first{all};
  parallelFor(threads, (all + kPiece - 1) / kPiece, [&](int64_t task, int) {
    const int64_t begin = task * kPiece, end = std::min(begin + kPiece, all);
    for (int64_t i = begin; i < end; ++i)
      if (candidates.ids[i] < -1 || candidates.ids[i] >= rows) {
        int64_t known = first.load();
        while (i < known && !first.compare_exchange_weak(known, i)) {
        }
        return;
      }
  });
  if (const int64_t at = first.load(); at != all)
    refuseCandidate(at / candidates.columns, at % candidates.columns, candidates.ids[at], rows);
}

void refuseCandidate(int64_t query, int64_t column, int64_t id, int64_t rows) {
  const std::string value = std::to_string(id), allowed = "-1 to " + std::to_string(rows - 1);
  refuse(ErrorKind::Input, {"candidates", value, allowed},
         "[" + std::to_string(query) + ", " + std::to_string(column) + "] is " + value +
             ", the dataset has " + std::to_string(rows) + " rows; give " + allowed +
             ", where -1 is none");
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
  const auto queryBytes = rowBytes(queries);
  std::vector<uint32_t> own(static_cast<size_t>(std::min(most, total)));
  std::iota(own.begin(), own.end(), 0);
  SearchStats all{.passingShare = 0};
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t first = total * piece / pieces, count = total * (piece + 1) / pieces - first;
    const auto told = [&](double done) {
      return !params.progress ||
             params.progress("search", (double(first) + double(count) * done) / double(total));
    };
    const auto rows = store(first, count, [&](const char *, double) { return told(0); });
    SearchParams some = params;
    some.candidates = Given{own.data(), 1};
    some.firstQuery = params.firstQuery + first;
    some.ofQueries = total;
    // To a caller there is one search.
    some.progress = [&](const char *, double done) { return told(done); };
    MatrixView part = queries;
    part.data = static_cast<const std::byte *>(queries.data) + first * queryBytes;
    part.rows = count;
    SearchStats cost;
    search(*rows, part, first, some, stats ? &cost : nullptr);
    addPiece(all, cost, double(count) / double(total));
  }
  if (stats)
    *stats = std::move(all);
}

std::unique_ptr<const RowStore> gatherCandidates(const MatrixView &rows,
                                                 const CandidateRows &candidates, int64_t first,
                                                 int64_t count, bool missingValues, int threads,
                                                 const Progress &progress) {
  report(progress, "search", 0);
  auto store = std::make_unique<GatheredRows>(rows, candidates.columns, count, missingValues);
  const int64_t columns = candidates.columns,
                together = std::max<int64_t>(1, kTask / std::max<int64_t>(1, columns));
  parallelFor(threads, (count + together - 1) / together, [&](int64_t task, int) {
    for (int64_t q = task * together; q < std::min(count, (task + 1) * together); ++q)
      store->fill(static_cast<size_t>(q), rows,
                  {candidates.ids + (first + q) * columns, static_cast<size_t>(columns)});
  });
  store->count();
  return store;
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
