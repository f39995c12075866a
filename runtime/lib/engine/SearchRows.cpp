//===- SearchRows.cpp - Exact search of a caller's rows -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/SearchRows.h"

#include "annudf/runtime/engine/Merge.h"
#include "annudf/runtime/engine/Repeated.h"

#include <algorithm>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

/// One search of rows, piece by piece.
class PieceSearch {
public:
  PieceSearch(Backend &backend, const MatrixView &rows, const StorePiece &store, uint64_t halvedTo,
              const MetricView &metric, const BoundCaptures &captures, const MatrixView &queries,
              int k, const SearchParams &params, bool told)
      : backend_(backend), rows_(rows), store_(store), halvedTo_(halvedTo), metric_(metric),
        captures_(captures), queries_(queries), k_(k), params_(params), told_(told) {}

  void search(int64_t first, int64_t count);
  void take(int64_t *ids, float *distances) const {
    std::copy_n(ids_.begin(), results(), ids);
    std::copy_n(distances_.begin(), results(), distances);
  }
  const SearchStats &cost() const { return cost_; }

private:
  size_t results() const { return static_cast<size_t>(queries_.rows) * static_cast<size_t>(k_); }
  void searchWhole(int64_t first, int64_t count);

  Backend &backend_;
  const MatrixView &rows_;
  const StorePiece &store_;
  const uint64_t halvedTo_;
  const MetricView &metric_;
  const BoundCaptures &captures_;
  const MatrixView &queries_;
  const int k_;
  const SearchParams &params_;
  const bool told_;          ///< Somebody asks what it cost.
  int64_t done_ = 0;         ///< Rows.
  std::vector<int64_t> ids_; ///< Those of the pieces before, then those of a piece.
  std::vector<float> distances_;
  SearchStats cost_;
};

void PieceSearch::searchWhole(int64_t first, int64_t count) {
  const double all = double(rows_.rows), before = double(done_), here = double(count);
  // To a caller there is one search; storing a piece is a part of it that may be stopped, too.
  const auto told = [&](double done) {
    return !params_.progress || params_.progress("search", (before + here * done) / all);
  };
  const Progress storing = [&](const char *, double) { return told(0); };
  const auto bytes = bytesOfRow(rows_.element, rows_.dims);
  const auto piece = store_({static_cast<const std::byte *>(rows_.data) + first * bytes, count,
                             rows_.dims, rows_.element},
                            first, storing);
  SearchParams params = params_;
  params.progress = [&](const char *, double done) { return told(done); };
  checkSearch(*piece, metric_, queries_, k_, params); // Before there is room for what it finds.
  const size_t at = done_ == 0 ? 0 : results();
  ids_.resize(at + results()), distances_.resize(at + results());
  SearchStats cost;
  backend_.search(*piece, metric_, captures_, queries_, k_, params, ids_.data() + at,
                  distances_.data() + at, told_ ? &cost : nullptr);
  const std::string family = cost_.family, why = cost_.why;
  addCost(cost_, cost);
  if (done_ == 0) {
    done_ = count;
    return;
  }
  cost_.family = family, cost_.why = why;
  done_ += count;
  std::vector<int64_t> ids(results());
  std::vector<float> distances(results());
  mergeParts(
      {ids_.data(), distances_.data(), 2, queries_.rows, k_, metric_.artifact.manifest.order, {}},
      k_, ids.data(), distances.data());
  ids_.swap(ids), distances_.swap(distances);
}

void PieceSearch::search(int64_t first, int64_t count) {
  try {
    searchWhole(first, count);
    return;
  } catch (const Error &error) {
    const auto bytes = uint64_t(count * bytesOfRow(rows_.element, rows_.dims));
    if (error.kind() != ErrorKind::Environment || halvedTo_ == 0 || bytes < 2 * halvedTo_ ||
        count / 2 < k_)
      throw;
  }
  search(first, count / 2);
  search(first + count / 2, count - count / 2);
}

} // namespace

void searchRows(Backend &backend, const MatrixView &rows, const StorePiece &store,
                const RowPieces &pieces, const MetricView &metric, const BoundCaptures &captures,
                const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                float *distances, SearchStats *stats) {
  if (rows.rows > 0) // Without rows it is they that are at fault.
    checkK(k, rows.rows);
  int64_t count = 1;
  const int64_t ofRow = rows.dims > 0 ? bytesOfRow(rows.element, rows.dims) : 1;
  const double results = 2.0 * double(queries.rows) * double(k) * (sizeof(int64_t) + sizeof(float));
  if (pieces.bytes != 0 && rows.rows > 0 && results < double(rows.rows) * double(ofRow))
    count = std::max<int64_t>(
        1, rows.rows / std::max<int64_t>(k, std::max<int64_t>(1, int64_t(pieces.bytes) / ofRow)));
  PieceSearch search(backend, rows, store, pieces.halvedTo, metric, captures, queries, k, params,
                     stats != nullptr);
  for (int64_t i = 0, first = 0; i < count; ++i) {
    const int64_t last = i + 1 == count ? rows.rows : rows.rows / count * (i + 1);
    search.search(first, last - first);
    first = last;
  }
  search.take(ids, distances);
  if (!stats)
    return;
  *stats = search.cost();
  if (params.predicate)
    stats->passingShare = double(stats->scored) / (double(rows.rows) * double(queries.rows));
  else if (params.filter)
    stats->passingShare = params.filter->passingShare(rows.rows);
}

} // namespace annudf::runtime
