//===- PieceWalk.h - Stores of pieces of rows, one by one -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_PIECEWALK_H
#define ANNUDF_RUNTIME_LIB_ENGINE_PIECEWALK_H

#include "annudf/Support/Error.h"
#include "annudf/runtime/engine/SearchRows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace annudf::runtime {

/// Adds what the search of a piece cost; the kernels of the first are those that are told of.
inline void addPieceCost(SearchStats &all, const SearchStats &piece) {
  const std::string family = all.family, why = all.why;
  addCost(all, piece);
  if (!family.empty())
    all.family = family, all.why = why;
}

/// Sets the share of all rows that filters let pass, of a search whose pieces are done.
inline void tellPassing(SearchStats &all, const SearchParams &params, int64_t rows,
                        int64_t queries) {
  if (params.predicate)
    all.passingShare = double(all.scored) / (double(rows) * double(queries));
  else if (params.filter)
    all.passingShare = params.filter->passingShare(rows);
}

/// Stores a piece of a caller's rows at a time and hands it to a search. To the caller there is one
/// search: its progress is that of all pieces, and storing one may be stopped, too.
class PieceWalk {
public:
  /// \param params  of the walk, with the progress of the piece.
  using Search = std::function<void(const RowStore &piece, const SearchParams &params)>;

  /// \param least  rows that a piece needs.
  PieceWalk(const MatrixView &rows, const StorePiece &store, const RowPieces &pieces, int64_t least,
            const SearchParams &params, Search search)
      : rows_(rows), store_(store), pieces_(pieces), least_(std::max<int64_t>(least, 1)),
        params_(params), search_(std::move(search)) {}

  /// Pieces of about the bytes that were asked for.
  int64_t pieces() const {
    if (pieces_.bytes == 0 || rows_.rows <= 0)
      return 1;
    const int64_t ofRow = rows_.dims > 0 ? bytesOfRow(rows_.element, rows_.dims) : 1,
                  together = std::max<int64_t>(1, int64_t(pieces_.bytes) / ofRow);
    return std::max<int64_t>(1, rows_.rows / std::max(least_, together));
  }
  void walk(int64_t pieces) {
    for (int64_t i = 0, first = 0; i < pieces; ++i) {
      const int64_t last = i + 1 == pieces ? rows_.rows : rows_.rows / pieces * (i + 1);
      visit(first, last - first);
      first = last;
    }
  }

private:
  /// The rows from `first` on, in halves where there is no memory for them.
  void visit(int64_t first, int64_t count) {
    try {
      visitWhole(first, count);
      return;
    } catch (const Error &error) {
      const auto bytes = uint64_t(count * bytesOfRow(rows_.element, rows_.dims));
      if (error.kind() != ErrorKind::Environment || pieces_.halvedTo == 0 ||
          bytes < 2 * pieces_.halvedTo || count / 2 < least_)
        throw;
    }
    visit(first, count / 2);
    visit(first + count / 2, count - count / 2);
  }
  void visitWhole(int64_t first, int64_t count) {
    const double all = double(rows_.rows), before = double(done_), here = double(count);
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
    search_(*piece, params);
    done_ += count;
  }

  const MatrixView &rows_;
  const StorePiece &store_;
  const RowPieces pieces_;
  const int64_t least_;
  const SearchParams &params_;
  const Search search_;
  int64_t done_ = 0; ///< Rows.
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_ENGINE_PIECEWALK_H
