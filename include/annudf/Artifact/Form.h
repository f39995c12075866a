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
// be. docs/spec/numerics.md derives the bounds. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_FORM_H
#define ANNUDF_ARTIFACT_FORM_H

#include "annudf/Artifact/CoefficientKind.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
  using Kind = CoefficientKind;
  Kind kind;
  double number = 0;     ///< Number.
  uint32_t a = 0, b = 0; ///< Operands, nodes before this one.
  std::string capture;   ///< Entry.
  std::vector<EntryIndex> indices;
  /// Negative of a kind that this annudf does not know.
  int operands() const {
    switch (kind) {
    case Kind::Number:
    case Kind::Entry:
      return 0;
    case Kind::Negated:
    case Kind::Absolute:
      return 1;
    case Kind::Sum:
    case Kind::Product:
    case Kind::Quotient:
      return 2;
    }
    return -1;
  }
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

/// The form of a metric whose accumulator is one float, or, with `lengths`, three or five. In real
/// numbers the accumulator ends as initial + Σ over dimensions of exact(x, y). Let A = |initial| +
/// Σ size, S = Σ small, L = |initial| + Σ largest, and E the product of 1 + u over `roundings` and,
/// for each dimension, over `accumulations` roundings to f32. For finite coordinates and captures
/// whose coefficients (all nodes) are finite, and where E L is below FLT_MAX, what update computes
/// is finite and at most (E - 1) A + E eta S from that, whatever is fused and however the
/// dimensions are split. docs/spec/numerics.md, "What a distance is", derives it.
struct QuadraticForm {
  static constexpr size_t kMostNodes = 1024;
  static constexpr uint32_t kMostRoundings = 1000;     ///< To each format.
  static constexpr uint32_t kMostAccumulations = 4096; ///< A dimension.

  std::vector<Coefficient> nodes; ///< Operands before what uses them; the first is the number 0.
  Quadratic exact;
  /// Whether x and y enter the terms as the rounded x - y only: size, small and largest are then
  /// polynomials of |x - y| alone, in the places of XX, X and One.
  bool ofDifference = false;
  Quadratic size;      ///< In |x| and |y|, or in |x - y|. Not negative.
  Quadratic small;     ///< The same.
  Quadratic largest;   ///< The same: the sizes of all values that the terms are made of, summed up.
  Roundings roundings; ///< A term's. None to f16.
  uint32_t accumulations = 1; ///< Terms that a dimension adds to the accumulator, one by one.
  double eta = 0;             ///< One of 0, 2^-150 (f32) and 2^-1074 (f64).
  double initial = 0;         ///< What init yields.

  /// What finalize makes of the accumulator, for computed floats, where it gives no NaN.
  enum class Finalize : uint8_t {
    Identity,
    Rises, ///< a <= b gives finalize(a) <= finalize(b).
    Falls  ///< a <= b gives finalize(a) >= finalize(b).
  };
  Finalize finalize = Finalize::Identity;

  /// For three floats that begin with 0. All above describes one of them, P, whose polynomials are
  /// of XY alone, but for `largest`, which is of all three. The others end as X = Σ α x² and Y = Σ
  /// γ y² but for what is said of them as of P, and finalize goes as it says with the ratio r = P /
  /// √(X Y): where X and Y as computed are at least 2^least and at most 2^60, r is computed with
  /// `ratio` roundings, and finalize of v, 1 and 1 is what finalize makes of r = v.
  /// docs/spec/numerics.md, "Normalised", derives it.
  struct Lengths {
    static constexpr int kLeast = -60, kMostLeast = -2, kMost = 60;
    static constexpr uint32_t kMostRoundings = 64; ///< The ratio's.

    uint32_t product = 0; ///< Which field is P.
    Quadratic exact;      ///< α in XX, γ in YY. To be bound where both are not negative.
    Quadratic size;       ///< The same.
    Quadratic small;      ///< In |x| and |y|.
    Roundings roundings;
    uint32_t accumulations = 1;
    double eta = 0;
    Roundings ratio;
    int32_t least = kLeast;

    /// For five floats, a correlation. The fields of x and y are Sx = Σ x and Sy = Σ y, those of P,
    /// X and Y are the sums of x y, x² and y² as they are (all coefficients 1), and in the place of
    /// P, X and Y as computed stand P - Sx Sy / n, X - Sx² / n and Y - Sy² / n, which finalize
    /// computes with `roundings` each; n is the number of dims. docs/spec/numerics.md, "Less their
    /// means".
    struct Means {
      uint32_t x = 0, y = 0; ///< Fields.
      /// What finalize divides by, a node that must be the dims; 0: what it is told that they are.
      uint32_t count = 0;
      Roundings roundings;
      bool operator==(const Means &) const = default;
    };
    std::optional<Means> means;
    bool operator==(const Lengths &) const = default;
  };
  std::optional<Lengths> lengths;
  bool operator==(const QuadraticForm &) const = default;
};

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

/// "0.5", the shortest that reads back as the same number.
std::string numberText(double value);

/// "2 w[dim]", in parentheses where it is a sum and `inProduct`; of long ones "(...)".
std::string coefficientText(const std::vector<Coefficient> &nodes, uint32_t node,
                            bool inProduct = false);

/// "w[dim] x^2 - 2 w[dim] x y + ...".
std::string polynomialText(const std::vector<Coefficient> &nodes, const Quadratic &polynomial);

/// The same by powers, those that are not 0: ("x^2", "w[dim]"), ("x y", "-2 w[dim]"), ...; of One
/// the power is "1".
std::vector<std::pair<std::string, std::string>>
polynomialTexts(const std::vector<Coefficient> &nodes, const Quadratic &polynomial);

/// "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y, finalize rises"; "no" where there is none.
std::string formText(const std::optional<QuadraticForm> &form);

/// The map of docs/spec/artifact.md as JSON, with what people read of it: "text" and
/// "coefficients".
std::string formToJson(const QuadraticForm &form);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_FORM_H
