//===- Missing.cpp - Coordinates that are not known -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vectors/Missing.h"

#include "annudf/runtime/support/Parallel.h"
#include "vectors/Elements.h"

#include <algorithm>
#include <cmath>

namespace annudf::runtime {

std::vector<float> meansOfPresent(const MatrixView &matrix, int threads) {
  const auto dims = static_cast<size_t>(matrix.dims);
  // Pieces depend on the rows alone, and are added up in their order.
  constexpr int64_t kMostPieces = 64, kLeastRows = 1024;
  const int64_t rowsOfPiece = std::max(kLeastRows, (matrix.rows + kMostPieces - 1) / kMostPieces);
  const int64_t pieces = (matrix.rows + rowsOfPiece - 1) / rowsOfPiece;
  std::vector<double> sums(static_cast<size_t>(pieces) * dims);
  std::vector<int64_t> counts(sums.size());
  parallelFor(threads, pieces, [&](int64_t piece, int) {
    std::vector<float> row(dims);
    const size_t at = static_cast<size_t>(piece) * dims;
    const int64_t end = std::min(matrix.rows, (piece + 1) * rowsOfPiece);
    for (int64_t r = piece * rowsOfPiece; r < end; ++r) {
      convertRows(matrix, r, r + 1, row.data());
      for (size_t d = 0; d < dims; ++d) {
        const bool known = !std::isnan(row[d]);
        sums[at + d] += known ? row[d] : 0;
        counts[at + d] += known;
      }
    }
  });
  std::vector<float> means(dims);
  for (size_t d = 0; d < dims; ++d) {
    double sum = 0;
    int64_t count = 0;
    for (size_t at = d; at < sums.size(); at += dims)
      sum += sums[at], count += counts[at];
    means[d] = count == 0 ? 0 : static_cast<float>(sum / double(count));
  }
  return means;
}

void fillMissing(float *rows, int64_t count, const std::vector<float> &fill) {
  if (fill.empty())
    return;
  for (int64_t r = 0; r < count; ++r, rows += fill.size())
    for (size_t d = 0; d < fill.size(); ++d)
      rows[d] = std::isnan(rows[d]) ? fill[d] : rows[d];
}

} // namespace annudf::runtime
