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

#ifndef ANNUDF_RUNTIME_VECTORS_MATRIX_H
#define ANNUDF_RUNTIME_VECTORS_MATRIX_H

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Support/FileIO.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace annudf::runtime {

/// Rows of `dims` coordinates, contiguous, not owned. Bits are packed: a row of them is dims / 8
/// bytes.
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
  std::string dtype;          ///< f16 bf16 f32 f64, i8 to i64, u8 to u64, b1 (a byte, 0 or 1).
  std::vector<int64_t> shape; ///< Empty for a scalar.
  std::vector<std::byte> storage;
  std::string origin; ///< File or argument, for messages.
};

/// Reads vectors. By ending: `.fbin` f32, `.hbin` f16, `.i8bin`, `.u8bin`
/// (BigANN: two little-endian uint32, rows and dims, then the rows), `.npy`
/// (2-D, C order, f4 f2 i1 u1).
/// \param rows   if above 0, at most so many are read, whatever the file holds.
/// \param asF32  all become f32, and a .npy of f8 is taken too, and rounded.
/// \throws Error naming file and fault; the header is checked against the file's
/// size before anything is allocated.
Matrix readMatrix(const std::string &path, int64_t rows = 0, bool asF32 = false);

/// The same rows as packed bits, eight to a byte. \throws Error(Input) unless they are bytes of u8.
Matrix asBits(Matrix matrix);

/// A capture's value: `.npy`, `.fbin`, `.ibin`, or a number as text.
/// A BigANN file of one row gives a 1-D array.
NumericArray readCapture(const std::string &pathOrNumber);

/// `.ibin` of int32 ids (ground truth, results).
std::vector<int32_t> readIds(const std::string &path, int64_t &rows, int32_t &columns);

/// The results of a search as PREFIX.ibin (int32 ids) and PREFIX.fbin (f32 distances).
/// Both files are opened at once, so that an unwritable place is told before the work,
/// and replaced together after both are complete.
class ResultWriter {
public:
  /// \throws Error(Environment) naming the file that cannot be written.
  explicit ResultWriter(const std::string &prefix);
  /// \throws Error(Input) naming an id that int32 cannot hold.
  void write(const int64_t *ids, const float *distances, int64_t rows, int32_t columns);

private:
  std::string idsPath_;
  AtomicFileWriter ids_, distances_;
};

/// Coordinate (row, dim) as float; the exact value for every element type.
float coordinate(const MatrixView &matrix, int64_t row, int32_t dim);

/// What a coordinate that is NaN is.
enum class NaNs { Refused, Missing };

/// \param firstRow  number of the matrix's first row in messages.
/// \throws Error(Input) naming `what`, row and dim of the first coordinate that is inf, or NaN
/// where that is refused.
void checkFinite(const MatrixView &matrix, const char *what, int threads, NaNs nans = NaNs::Refused,
                 int64_t firstRow = 0);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_VECTORS_MATRIX_H
