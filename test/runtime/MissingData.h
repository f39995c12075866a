//===- MissingData.h - Rows of which coordinates are missing ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_MISSINGDATA_H
#define ANNUDF_TEST_RUNTIME_MISSINGDATA_H

#include "runtime/TestData.h"

#include <cmath>

namespace annudf::test {

/// Every third coordinate is missing, all of row 3 and all of dim 2.
inline runtime::Matrix withMissing(annudf_element element, int64_t rows, int32_t dims,
                                   unsigned seed = 1) {
  runtime::Matrix matrix = integerMatrix(element, rows, dims, seed);
  for (int64_t row = 0; row < rows; ++row)
    for (int32_t dim = 0; dim < dims; ++dim)
      if ((row + dim) % 3 == 0 || row == 3 || dim == 2) {
        const int64_t at = row * dims + dim;
        if (element == ANNUDF_ELEMENT_F32)
          reinterpret_cast<float *>(matrix.storage.data())[at] = std::nanf("");
        else // A NaN of both types of 16 bits.
          reinterpret_cast<uint16_t *>(matrix.storage.data())[at] = 0xffc1;
      }
  return matrix;
}

/// The same with the means of `base` in their place.
inline runtime::Matrix withMeans(const runtime::Matrix &of, const runtime::Matrix &base) {
  runtime::Matrix result;
  result.rows = of.rows, result.dims = of.dims;
  result.storage.resize(size_t(of.rows * of.dims) * 4);
  auto *values = reinterpret_cast<float *>(result.storage.data());
  for (int32_t dim = 0; dim < of.dims; ++dim) {
    double sum = 0, count = 0;
    for (int64_t row = 0; row < base.rows; ++row)
      if (const float value = runtime::coordinate(base.view(), row, dim); !std::isnan(value))
        sum += value, ++count;
    for (int64_t row = 0; row < of.rows; ++row) {
      const float value = runtime::coordinate(of.view(), row, dim);
      values[row * of.dims + dim] = !std::isnan(value) ? value
                                    : count == 0       ? 0
                                                       : float(sum / count);
    }
  }
  return result;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_MISSINGDATA_H
