//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact search of a caller's rows, once, without a copy of all of them.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_SEARCHROWS_H
#define ANNUDF_RUNTIME_ENGINE_SEARCHROWS_H

#include "annudf/runtime/engine/Search.h"

#include <functional>
#include <memory>

namespace annudf::runtime {

/// Makes the store of a piece of the rows.
/// \param first     number of its first row, which is its id.
/// \param progress  to be told of; stage "add".
using StorePiece = std::function<std::unique_ptr<const RowStore>(
    const MatrixView &piece, int64_t first, const Progress &progress)>;

/// How rows are cut.
struct RowPieces {
  /// Bytes of a piece, about; 0: all rows are one.
  uint64_t bytes = 0;
  /// A piece that there is no memory for (Error(Environment)) is cut into halves down to so many
  /// bytes; 0: it is not.
  uint64_t halvedTo = 0;
  /// Enough for a search to be worth its start, and little beside the rows.
  static constexpr uint64_t kBytes = uint64_t(64) << 20;
};

/// The k best of all rows for each query: a piece of the rows is stored and searched, and its
/// results are merged with those before. The result is that of a search of all rows in one list, to
/// the bit.
/// \param rows  in host memory; ids are their numbers. Where results of two pieces take more room
/// than a copy of the rows they are one piece.
/// \param stats  may be null: of all pieces together.
/// \throws as Backend::search; Error(Usage) for a k above the number of rows.
void searchRows(Backend &backend, const MatrixView &rows, const StorePiece &store,
                const RowPieces &pieces, const MetricView &metric, const BoundCaptures &captures,
                const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                float *distances, SearchStats *stats = nullptr);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_SEARCHROWS_H
