//===- Elements.h - Coordinates of every element type as floats -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H
#define ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <bit>
#include <cstdint>

namespace annudf::runtime {

/// Exact; branches only on inf and NaN, so that loops over it vectorise.
inline float halfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16, rest = half & 0x7fffu;
  // Moving exponent and fraction to a float's place leaves an exponent that is 112 too
  // small; the product corrects it and, being exact, serves subnormals too.
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f);
  const uint32_t value = rest >= 0x7c00u ? 0x7f800000u | rest << 13 : finite;
  return std::bit_cast<float>(value | sign);
}

/// Round to nearest, ties to even.
uint16_t doubleToHalf(double value);

/// Rows [begin, end) as floats, (end - begin) x dims.
void convertRows(const MatrixView &matrix, int64_t begin, int64_t end, float *out);

/// Bytes of one row.
inline int64_t rowBytes(const MatrixView &matrix) {
  return int64_t(matrix.dims) * elementSize(matrix.element);
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_VECTORS_ELEMENTS_H
