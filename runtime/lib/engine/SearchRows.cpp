//===- SearchRows.cpp - Exact search of a caller's rows -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/SearchRows.h"

#include "annudf/runtime/engine/Merge.h"
#include "engine/PieceWalk.h"

#include <algorithm>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

/// The k best of the pieces so far.
class BestOfPieces {
public:
  BestOfPieces(Backend &backend, const MetricView &metric, const BoundCaptures &captures,
               const MatrixView &queries, int k, bool told)
      : backend_(backend), metric_(metric), captures_(captures), queries_(queries), k_(k),
        told_(told) {}

  void search(const RowStore &piece, const SearchParams &params);
  void take(int64_t *ids, float *distances) const {
    std::copy_n(ids_.begin(), results(), ids);
    std::copy_n(distances_.begin(), results(), distances);
  }
  const SearchStats &cost() const { return cost_; }

private:
  size_t results() const { return static_cast<size_t>(queries_.rows) * static_cast<size_t>(k_); }

  Backend &backend_;
  const MetricView &metric_;
  const BoundCaptures &captures_;
  const MatrixView &queries_;
  const int k_;
  const bool told_;          ///< Somebody asks what it cost.
  bool isFirst_ = true;      ///< No piece was searched before.
  std::vector<int64_t> ids_; ///< Those of the pieces before, then those of a piece.
  std::vector<float> distances_;
  SearchStats cost_;
};

void BestOfPieces::search(const RowStore &piece, const SearchParams &params) {
  checkSearch(piece, metric_, queries_, k_, params); // Before there is room for what it finds.
  const size_t at = isFirst_ ? 0 : results();
  ids_.resize(at + results()), distances_.resize(at + results());
  SearchStats cost;
  backend_.search(piece, metric_, captures_, queries_, k_, params, ids_.data() + at,
                  distances_.data() + at, told_ ? &cost : nullptr);
  addPieceCost(cost_, cost);
  if (isFirst_) {
    isFirst_ = false;
    return;
  }
  std::vector<int64_t> ids(results());
  std::vector<float> distances(results());
  mergeParts(
      {ids_.data(), distances_.data(), 2, queries_.rows, k_, metric_.artifact.manifest.order, {}},
      k_, ids.data(), distances.data());
  ids_.swap(ids), distances_.swap(distances);
}

} // namespace

void searchRows(Backend &backend, const MatrixView &rows, const StorePiece &store,
                const RowPieces &pieces, const MetricView &metric, const BoundCaptures &captures,
                const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                float *distances, SearchStats *stats) {
  if (rows.rows > 0) // Without rows it is they that are at fault.
    checkK(k, rows.rows);
  const int64_t ofRow = rows.dims > 0 ? bytesOfRow(rows.element, rows.dims) : 1;
  const double results = 2.0 * double(queries.rows) * double(k) * (sizeof(int64_t) + sizeof(float));
  BestOfPieces best(backend, metric, captures, queries, k, stats != nullptr);
  PieceWalk walk(
      rows, store, pieces, k, params,
      [&](const RowStore &piece, const SearchParams &ofPiece) { best.search(piece, ofPiece); });
  walk.walk(results < double(rows.rows) * double(ofRow) ? walk.pieces() : 1);
  best.take(ids, distances);
  if (!stats)
    return;
  *stats = best.cost();
  tellPassing(*stats, params, rows.rows, queries.rows);
}

} // namespace annudf::runtime
