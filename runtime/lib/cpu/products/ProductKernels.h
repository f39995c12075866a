//===- ProductKernels.h - Products of rows and queries, and bounds --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of the matrix path, once for any processor and once for each kind of instructions that
// some have. All compute bounds that hold, not the same ones: docs/spec/numerics.md, "On the CPU".
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTKERNELS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTKERNELS_H

#include <cstdint>
#include <span>

namespace annudf::runtime::cpu {

/// Rows, and queries, of a tile; and dims of one step of a product.
inline constexpr int kTileRows = 16;
inline constexpr int kStepDims = 32;

inline constexpr int32_t stepsOf(int32_t dims) { return (dims + kStepDims - 1) / kStepDims; }

/// The terms of a dimension by which a row is looked at. With Y = y - shift a row's part of the
/// bound is Σ one Y + two Y², and everything that it may be off follows from its squared norm Σ
/// cross Y². For a ratio the row's part is its length, whose square is Σ two y².
struct RowTerms {
  float shift, one, two, cross;
};

/// Some groups of a list, converted.
struct RowBlock {
  const uint32_t *words; ///< f32 rows, as RowStore.h has them.
  int32_t groups, rowWords, dims;
  const RowTerms *terms; ///< Terms of each dimension.
  float error,
      constantError; ///< A row's part is off by: this times the squared norm, and beside it.
  float limit;       ///< The largest squared norm; beyond it a base is -infinity.
  float least;       ///< Added to the squared norm: more than squares lose below 2^-126.
  /// For a ratio: between which squares of lengths a row is looked at. For a sum mostSquare is 0.
  float leastSquare, mostSquare;
  /// For rows less their mean: the least share of Σ y² that it may be, else 0.
  float leastShare;
  /// Two bfloat16 a word, of dims 2i and 2i + 1: [tile of rows][steps x 16][row].
  uint32_t *pairs;
  float *base, *norm; ///< For each row, as BoundLoops read them.
};

/// A query's part of the bounds of its rows.
struct QueryBound {
  float base, norm, error;
};

/// The loops over bounds of rows with one query.
struct BoundLoops {
  /// Which of `rows`, a multiple of 32, have a bound that is not above the limit, and the bound.
  /// \param passing  a bit a row that is looked at; null: all are.
  /// \return how many.
  int32_t (*survivors)(const float *scores, const float *base, const float *norm, int32_t rows,
                       const uint32_t *passing, const QueryBound &query, float limit,
                       int32_t *which, float *bounds);
  /// Some of the bounds of rows that are looked at: none of the least 16 is larger than all of
  /// them.
  void (*sample)(const float *scores, const float *base, const float *norm, int32_t rows,
                 const uint32_t *passing, const QueryBound &query, float (&least)[kTileRows]);
};

/// Least of what convert() gives, as the proof of it asks (docs/spec/numerics.md).
inline constexpr float kLeastRatio = 0x1p-20f;
/// Most: bfloat16 to nearest is off by at most 2^-8 of a number.
inline constexpr float kMostRatio = 0x1p-8f;

struct ProductKernels {
  const char *name; ///< As in ANNUDF_PRODUCTS.
  /// Bytes of a query's coordinate for multiply(): 2, bfloat16, or 4, the same number as f32.
  int32_t queryBytes;
  /// Cost of a row and a query, where the metric's own scan takes 1; 0: not known to be quicker.
  double cost;
  /// \return of all rows, how far Y is at most from what it was rounded to: times the norm.
  float (*convert)(const RowBlock &block);
  /// \param queries  [query][steps x 32], with room for whole tiles of 16, whose last may be
  ///                 of any number.
  /// \param rowTiles even, as a group has two.
  /// \param scores   [query][16 rowTiles], of whole tiles of queries too.
  void (*multiply)(const void *queries, int32_t count, const uint32_t *pairs, int32_t rowTiles,
                   int32_t steps, float *scores);
  /// Bounds are sums, (query's base + row's base) + score - query's norm row's norm, or ratios,
  /// ((query's base + score) row's base - query's error) - query's norm row's norm.
  BoundLoops sums, ratios;
};

/// For any processor.
const ProductKernels &plainKernels();
/// All that this processor and system can run, the best first; the last is plainKernels().
std::span<const ProductKernels *const> availableKernels();
/// The best of them, or that which ANNUDF_PRODUCTS names.
/// \throws Error (Usage) of a name that no kernels have or that cannot run here.
const ProductKernels &matrixKernels();

/// To nearest, ties away from 0: off by at most 2⁻⁸ of it.
inline uint16_t toBfloat(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return uint16_t((bits + 0x8000) >> 16);
}

inline float fromBfloat(uint32_t bits) {
  bits <<= 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTKERNELS_H
