//===- Elements.cpp - Coordinates of every element type as floats *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vectors/Elements.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/Error.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace annudf::runtime {
namespace {

template <typename T> void widen(const void *from, int64_t count, float *out) {
  const T *values = static_cast<const T *>(from);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(values[i]);
}

template <int element> void decode(const void *from, int64_t count, float *out) {
  using Type = annudf_kernels::Element<element>;
  const auto *values = static_cast<const Type::Storage *>(from);
  for (int64_t i = 0; i < count; ++i)
    out[i] = Type::decode(values[i]);
}

/// Each byte at once: rows are whole bytes.
void unpackBits(const void *from, int64_t count, float *out) {
  const auto *bytes = static_cast<const uint8_t *>(from);
  for (int64_t i = 0; i < count / 8; ++i)
    for (int bit = 0; bit < 8; ++bit)
      out[i * 8 + bit] = static_cast<float>(bytes[i] >> bit & 1);
}

const char *rowAt(const MatrixView &matrix, int64_t row) {
  return static_cast<const char *>(matrix.data) + row * rowBytes(matrix);
}

/// Whether any of `count` words has all bits of `exponent` set, and of the others but the sign
/// none where only an infinity is refused: inf or NaN.
template <typename T> bool anyRefused(const void *data, int64_t count, T exponent, NaNs nans) {
  const T *values = static_cast<const T *>(data);
  const T mask = nans == NaNs::Missing ? T(~T(0) >> 1) : exponent;
  bool found = false;
  for (int64_t i = 0; i < count; ++i)
    found |= (values[i] & mask) == exponent;
  return found;
}

bool anyRefused(const MatrixView &matrix, int64_t begin, int64_t end, NaNs nans) {
  const int64_t count = (end - begin) * matrix.dims;
  switch (matrix.element) {
  case ANNUDF_ELEMENT_F32:
    return anyRefused<uint32_t>(rowAt(matrix, begin), count, 0x7f800000u, nans);
  case ANNUDF_ELEMENT_F16:
    return anyRefused<uint16_t>(rowAt(matrix, begin), count, uint16_t(0x7c00), nans);
  case ANNUDF_ELEMENT_BF16:
    return anyRefused<uint16_t>(rowAt(matrix, begin), count, uint16_t(0x7f80), nans);
  case ANNUDF_ELEMENT_I8:
  case ANNUDF_ELEMENT_U8:
  case ANNUDF_ELEMENT_BITS:
    return false;
  }
  return true;
}

/// The bits of a float of 16 bits with so many of them for its fraction, rounded to nearest, ties
/// to even. The exponent takes the rest but the sign.
template <int fractionBits> uint16_t narrow(double value) {
  constexpr int bias = (1 << (14 - fractionBits)) - 1;
  constexpr uint16_t infinity = (2 * bias + 1) << fractionBits;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value))
    return sign | infinity | 1 << (fractionBits - 1);
  // Halfway between the largest one and the next step.
  if (size >= std::ldexp(2 - std::ldexp(1, -fractionBits - 1), bias))
    return sign | infinity;
  if (size < std::ldexp(1, 1 - bias)) // Subnormal.
    return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(size, bias - 1 + fractionBits)));
  const int exponent = std::ilogb(size);
  constexpr int one = 1 << fractionBits;
  const double fraction = std::nearbyint(std::ldexp(size, fractionBits - exponent)) - one;
  // A fraction that is rounded up to one carries into the exponent, as it should.
  return sign | static_cast<uint16_t>((exponent + bias) * one + static_cast<int>(fraction));
}

} // namespace

uint16_t doubleToHalf(double value) { return narrow<10>(value); }
uint16_t doubleToBfloat(double value) { return narrow<7>(value); }

void convertRows(const MatrixView &matrix, int64_t begin, int64_t end, float *out) {
  const int64_t count = (end - begin) * matrix.dims;
  const char *from = rowAt(matrix, begin);
  switch (matrix.element) {
  case ANNUDF_ELEMENT_F32:
    std::memcpy(out, from, static_cast<size_t>(count) * sizeof(float));
    break;
  case ANNUDF_ELEMENT_F16:
    decode<ANNUDF_ELEMENT_F16>(from, count, out);
    break;
  case ANNUDF_ELEMENT_BF16:
    decode<ANNUDF_ELEMENT_BF16>(from, count, out);
    break;
  case ANNUDF_ELEMENT_I8:
    widen<int8_t>(from, count, out);
    break;
  case ANNUDF_ELEMENT_U8:
    widen<uint8_t>(from, count, out);
    break;
  case ANNUDF_ELEMENT_BITS:
    unpackBits(from, count, out);
    break;
  }
}

float coordinate(const MatrixView &matrix, int64_t row, int32_t dim) {
  const char *from = rowAt(matrix, row);
  switch (matrix.element) {
  case ANNUDF_ELEMENT_F32:
    return reinterpret_cast<const float *>(from)[dim];
  case ANNUDF_ELEMENT_F16:
    return halfToFloat(reinterpret_cast<const uint16_t *>(from)[dim]);
  case ANNUDF_ELEMENT_BF16:
    return bfloatToFloat(reinterpret_cast<const uint16_t *>(from)[dim]);
  case ANNUDF_ELEMENT_I8:
    return reinterpret_cast<const int8_t *>(from)[dim];
  case ANNUDF_ELEMENT_U8:
    return reinterpret_cast<const uint8_t *>(from)[dim];
  case ANNUDF_ELEMENT_BITS:
    return static_cast<float>(static_cast<uint8_t>(from[dim / 8]) >> dim % 8 & 1);
  }
  return 0;
}

void checkFinite(const MatrixView &matrix, const char *what, int threads, NaNs nans,
                 int64_t firstRow) {
  if (kindOf(matrix.element) != NumberKind::Float)
    return;
  constexpr int64_t kRows = 1024;
  // The first one in the matrix is named, whichever thread finds one first.
  std::atomic<int64_t> first{matrix.rows};
  parallelFor(threads, (matrix.rows + kRows - 1) / kRows, [&](int64_t task, int) {
    const int64_t begin = task * kRows, end = std::min(begin + kRows, matrix.rows);
    if (begin >= first.load(std::memory_order_relaxed) || !anyRefused(matrix, begin, end, nans))
      return;
    int64_t row = begin;
    while (!anyRefused(matrix, row, row + 1, nans))
      ++row;
    int64_t known = first.load();
    while (row < known && !first.compare_exchange_weak(known, row)) {
    }
  });
  const int64_t row = first.load();
  if (row == matrix.rows)
    return;
  const auto isRefused = [&](float value) {
    return nans == NaNs::Missing ? std::isinf(value) : !std::isfinite(value);
  };
  int32_t dim = 0;
  while (!isRefused(coordinate(matrix, row, dim)))
    ++dim;
  const float value = coordinate(matrix, row, dim);
  const char *rule = nans == NaNs::Missing ? "finite, or NaN where it is missing"
                     : std::isnan(value)   ? "finite unless index and metric say missing_values"
                                           : "finite";
  const char *shown = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  throw ArgumentError(ErrorKind::Input, {what, shown, rule},
                      ": row " + std::to_string(firstRow + row) + ", dim " + std::to_string(dim) +
                          " is " + shown + "; every coordinate must be " + rule);
}

} // namespace annudf::runtime
