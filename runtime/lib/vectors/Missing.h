//===- Missing.h - Coordinates that are not known ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A missing value is a NaN. Metrics see it; where lists are made and ranked, which needs a
// number for every coordinate, the mean of its dimension takes its place.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H
#define ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H

#include "annudf/runtime/vectors/Matrix.h"

#include <cstdint>
#include <vector>

namespace annudf::runtime {

/// Sums of the values that are there, and how many, by dimension and piece of the rows.
struct PresentValues {
  /// Pieces depend on the number of rows alone.
  struct Pieces {
    int64_t count, rows; ///< Rows of each; of the last what is left.
  };
  static Pieces piecesOf(int64_t rows);

  PresentValues(int64_t pieces, int32_t dims)
      : dims(dims), sums(static_cast<size_t>(pieces) * static_cast<size_t>(dims)),
        counts(sums.size()) {}
  /// Pieces are added up in their order. 0 where no value is there.
  std::vector<float> means() const;

  int32_t dims;
  std::vector<double> sums; ///< pieces x dims.
  std::vector<int64_t> counts;
};

/// The mean of the values that are there for each dimension, 0 where none is. The same for every
/// number of threads.
std::vector<float> meansOfPresent(const MatrixView &matrix, int threads);

/// Puts fill[d] where coordinate d of one of `count` rows is NaN; nothing if `fill` is empty.
void fillMissing(float *rows, int64_t count, const std::vector<float> &fill);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H
