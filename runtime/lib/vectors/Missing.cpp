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

PresentValues::Pieces PresentValues::piecesOf(int64_t rows) {
  constexpr int64_t kMostPieces = 64, kLeastRows = 1024;
  const int64_t ofPiece = std::max(kLeastRows, (rows + kMostPieces - 1) / kMostPieces);
  return {(rows + ofPiece - 1) / ofPiece, ofPiece};
}

std::vector<float> PresentValues::means() const {
  const auto width = static_cast<size_t>(dims);
  std::vector<float> means(width);
  for (size_t d = 0; d < width; ++d) {
    double sum = 0;
    int64_t count = 0;
    for (size_t at = d; at < sums.size(); at += width)
      sum += sums[at], count += counts[at];
    means[d] = count == 0 ? 0 : static_cast<float>(sum / double(count));
  }
  return means;
}

std::vector<float> meansOfPresent(const MatrixView &matrix, int threads) {
  const auto dims = static_cast<size_t>(matrix.dims);
  const PresentValues::Pieces pieces = PresentValues::piecesOf(matrix.rows);
  PresentValues present(pieces.count, matrix.dims);
  parallelFor(threads, pieces.count, [&](int64_t piece, int) {
    std::vector<float> row(dims);
    const size_t at = static_cast<size_t>(piece) * dims;
    const int64_t end = std::min(matrix.rows, (piece + 1) * pieces.rows);
    for (int64_t r = piece * pieces.rows; r < end; ++r) {
      convertRows(matrix, r, r + 1, row.data());
      for (size_t d = 0; d < dims; ++d) {
        const bool known = !std::isnan(row[d]);
        present.sums[at + d] += known ? row[d] : 0;
        present.counts[at + d] += known;
      }
    }
  });
  return present.means();
}

void fillMissing(float *rows, int64_t count, const std::vector<float> &fill) {
  if (fill.empty())
    return;
  for (int64_t r = 0; r < count; ++r, rows += fill.size())
    for (size_t d = 0; d < fill.size(); ++d)
      rows[d] = std::isnan(rows[d]) ? fill[d] : rows[d];
}

} // namespace annudf::runtime
