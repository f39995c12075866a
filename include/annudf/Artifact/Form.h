//===- Form.h - A metric's formula as data ------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What annudf-infer-properties proves, in a form that a scan can compute with: the distance as a
// sum over dimensions of a quadratic in the coordinates, and how far from it the hooks' result may
// be. docs/numerics.md derives the bounds. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_FORM_H
#define ANNUDF_ARTIFACT_FORM_H

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace annudf {

/// One index of an entry of a capture: annudf.index dim or query, or a number.
struct EntryIndex {
  enum class Kind : uint8_t { Dim, Query, Number };
  Kind kind;
  int64_t number = 0;
  auto operator<=>(const EntryIndex &) const = default;
};

/// A node of an expression over entries of captures, in real numbers.
struct Coefficient {
  enum class Kind : uint8_t { Number, Entry, Negated, Sum, Product, Quotient, Absolute };
  Kind kind;
  double number = 0;     ///< Number.
  uint32_t a = 0, b = 0; ///< Operands, nodes before this one.
  std::string capture;   ///< Entry.
  std::vector<EntryIndex> indices;
  bool operator==(const Coefficient &) const = default;
};

/// How many roundings to each format a value may hold as factors 1 + δ.
struct Roundings {
  uint32_t f16 = 0, f32 = 0, f64 = 0;
  bool operator==(const Roundings &) const = default;
};

/// αx² + βxy + γy² + δx + εy + ζ, each a node.
struct Quadratic {
  enum Power { XX, XY, YY, X, Y, One };
  std::array<uint32_t, 6> of = {};
  bool operator==(const Quadratic &) const = default;
};

/// The form of a metric whose accumulator is one float. In real numbers the accumulator ends as
/// initial + Σ over dimensions of exact(x, y). Let A = |initial| + Σ size, S = Σ small, and E the
/// product of 1 + u over `roundings` and over one rounding to f32 a dimension, and two more. Then
/// what update computes of finite coordinates and captures, whatever is fused and however the
/// dimensions are split, is at most (E - 1) A + E eta S from it where largest() stays below
/// FLT_MAX; there it is finite.
struct QuadraticForm {
  std::vector<Coefficient> nodes;
  Quadratic exact;
  /// Whether x and y enter the terms as the rounded x - y only: size, small and largest are then
  /// polynomials of |x - y| alone, in the places of XX, X and One.
  bool ofDifference = false;
  Quadratic size;    ///< Of |x| and |y|, or of |x - y|. Not negative.
  Quadratic small;   ///< The same.
  Quadratic largest; ///< The same: at least the absolute value of all that a term is made of.
  Roundings roundings;
  double eta = 0;
  double initial = 0; ///< What init yields.

  /// What finalize makes of the accumulator. Of floats as computed, where it gives no NaN.
  enum class Finalize : uint8_t {
    Identity,
    Rises, ///< a <= b gives finalize(a) <= finalize(b).
    Falls  ///< a <= b gives finalize(a) >= finalize(b).
  };
  Finalize finalize = Finalize::Identity;
  bool operator==(const QuadraticForm &) const = default;
};

} // namespace annudf

#endif // ANNUDF_ARTIFACT_FORM_H
