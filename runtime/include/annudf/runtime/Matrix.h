//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row-major matrices of vectors, and the files they come from.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_MATRIX_H
#define ANNUDF_RUNTIME_MATRIX_H

#include "annudf/abi/annudf_abi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace annudf::runtime {

/// Rows of `dims` coordinates, contiguous, not owned.
struct MatrixView {
  const void *data = nullptr;
  int64_t rows = 0;
  int32_t dims = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;
};

/// The same, owned.
struct Matrix {
  std::vector<std::byte> storage;
  int64_t rows = 0;
  int32_t dims = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;
  MatrixView view() const { return {storage.data(), rows, dims, element}; }
};

/// A capture's array or scalar as read from a file or given as a number.
struct NumericArray {
  std::string dtype; ///< "f32", "f64", "f16", "i8", "u8", "i32", "u32", "i64".
  std::vector<int64_t> shape; ///< Empty for a scalar.
  std::vector<std::byte> storage;
  std::string origin; ///< File or argument, for messages.
};

/// Reads vectors. By ending: `.fbin` f32, `.hbin` f16, `.i8bin`, `.u8bin`
/// (BigANN: two little-endian uint32, rows and dims, then the rows), `.npy`
/// (2-D, C order, f4 f2 i1 u1).
/// \throws Error naming file and fault; the header is checked against the file's
/// size before anything is allocated.
Matrix readMatrix(const std::string &path);

/// A capture's value: `.npy`, `.fbin`, `.ibin`, or a number as text.
/// A BigANN file of one row gives a 1-D array.
NumericArray readCapture(const std::string &pathOrNumber);

/// `.ibin` of int32 ids (ground truth, results).
std::vector<int32_t> readIds(const std::string &path, int64_t &rows, int32_t &columns);

/// Both write to a temporary and rename. Ids above int32 are an Error.
void writeIds(const std::string &path, const int64_t *ids, int64_t rows, int32_t columns);
void writeDistances(const std::string &path, const float *distances, int64_t rows, int32_t columns);

/// Coordinate (row, dim) as float; the exact value for every element type.
float coordinate(const MatrixView &matrix, int64_t row, int32_t dim);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_MATRIX_H
