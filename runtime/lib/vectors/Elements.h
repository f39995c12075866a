//===- Elements.h - Coordinates of every element type as floats -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H
#define ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H

#include "../../kernels/Coordinates.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <cstdint>

namespace annudf::runtime {

/// Exact; the kernels' own, so that backends agree on what a half is worth.
inline float halfToFloat(uint16_t half) {
  return annudf_kernels::Element<ANNUDF_ELEMENT_F16>::decode(half);
}

/// Round to nearest, ties to even.
uint16_t doubleToHalf(double value);

/// The same for bf16, which is the upper half of an f32.
inline float bfloatToFloat(uint16_t bits) {
  return annudf_kernels::Element<ANNUDF_ELEMENT_BF16>::decode(bits);
}
uint16_t doubleToBfloat(double value);

/// Rows [begin, end) as floats, (end - begin) x dims.
void convertRows(const MatrixView &matrix, int64_t begin, int64_t end, float *out);

/// Bytes of one row.
inline int64_t rowBytes(const MatrixView &matrix) {
  return bytesOfRow(matrix.element, matrix.dims);
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H
