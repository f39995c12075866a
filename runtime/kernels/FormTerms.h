//===- FormTerms.h - A dimension of a form, less a shift ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "The bound", derives every term. For host and kernels, as FormNodes.h.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_FORMTERMS_H
#define ANNUDF_KERNELS_FORMTERMS_H

#include "FormNodes.h"

namespace annudf_kernels {

/// As Quadratic of Form.h: a node for each power.
struct FormQuadratic {
  enum Power { XX, XY, YY, X, Y, One };
  uint32_t of[6];
};

/// The polynomials of one dimension, of nodes, and what of a form is the same in all of them.
struct FormPolynomials {
  FormQuadratic exact, size, small, largest;
  uint32_t ofDifference; ///< As of Form.h.
  uint32_t reserved_;
  double rounding, underflow; ///< E - 1 and E eta of Form.h.
};

/// At least a polynomial of |x| and |y|, or of |x - y|, as one of |X| and one of |Y|.
struct Parts {
  Upper x1, x2, y1, y2, one;

  friend ANNUDF_CONVERSION Parts operator+(const Parts &a, const Parts &b) {
    return {a.x1 + b.x1, a.x2 + b.x2, a.y1 + b.y1, a.y2 + b.y2, a.one + b.one};
  }
  friend ANNUDF_CONVERSION Parts operator*(Upper s, const Parts &p) {
    return {s * p.x1, s * p.x2, s * p.y1, s * p.y2, s * p.one};
  }
};

/// What nothing can be bound for.
enum class TermsFault {
  None,
  NotFinite,       ///< A coefficient.
  BelowZero,       ///< That of a polynomial which bounds sizes.
  BeyondDifference ///< One of more than |x - y|, in a form of the difference.
};

/// The terms of a dimension, with X = x - m and Y = y - m:
/// constant + x1 X + x2 X² + xy X Y + y1 Y + y2 Y², and what it may be off.
struct FormTerms {
  Real constant, x1, x2, xy, y1, y2;
  Parts error, largest;
  TermsFault fault = TermsFault::None;
  const char *of = ""; ///< The polynomial that is at fault.
};

/// `poly`, separated; where it is at fault, terms.fault is set.
template <class At>
ANNUDF_CONVERSION Parts partsOf(const FormPolynomials &form, const FormQuadratic &poly,
                                const char *name, double m, At at, FormTerms &terms) {
  using P = FormQuadratic;
  Upper c[6];
  for (int i = 0; i < 6; ++i) {
    const Real value = at(poly.of[i]);
    c[i] = value.most();
    const bool isFinite = c[i].v < HUGE_VAL;
    if (terms.fault == TermsFault::None && (!isFinite || value.v < -value.e.v)) {
      terms.fault = isFinite ? TermsFault::BelowZero : TermsFault::NotFinite;
      terms.of = name;
    }
  }
  const Upper two{2};
  if (form.ofDifference) { // |x - y| <= |X| + |Y|, and its square <= 2 X² + 2 Y²
    if (terms.fault == TermsFault::None && (c[P::XY].v != 0 || c[P::YY].v != 0 || c[P::Y].v != 0)) {
      terms.fault = TermsFault::BeyondDifference;
      terms.of = name;
    }
    return {c[P::X], two * c[P::XX], c[P::X], two * c[P::XX], c[P::One]};
  }
  // |x y| <= (x² + y²) / 2, |x| <= |X| + |m|
  const Upper half = Upper{0.5} * c[P::XY], x2 = c[P::XX] + half, y2 = c[P::YY] + half;
  const Upper shift{fabs(m)};
  return {c[P::X] + two * shift * x2, x2, c[P::Y] + two * shift * y2, y2,
          c[P::One] + shift * (c[P::X] + c[P::Y]) + shift * shift * (x2 + y2)};
}

/// What the coefficients, as doubles, may be off.
ANNUDF_CONVERSION Parts inexact(const FormTerms &terms) {
  const Upper half = Upper{0.5} * terms.xy.e; // |X Y| <= (X² + Y²) / 2
  return {terms.x1.e, terms.x2.e + half, terms.y1.e, terms.y2.e + half, {}};
}

/// \param m   the shift.
/// \param at  the value of a node, in this dimension.
template <class At>
ANNUDF_CONVERSION FormTerms termsOf(const FormPolynomials &form, double m, At at) {
  using P = FormQuadratic;
  FormTerms terms;
  Real c[6];
  for (int i = 0; i < 6; ++i) {
    c[i] = at(form.exact.of[i]);
    if (!c[i].isFinite())
      terms.fault = TermsFault::NotFinite;
  }
  const Real shift{m, {}}, two{2, {}}, a = c[P::XX], b = c[P::XY], g = c[P::YY];
  terms.x2 = a, terms.xy = b, terms.y2 = g;
  terms.x1 = (two * a + b) * shift + c[P::X];
  terms.y1 = (b + two * g) * shift + c[P::Y];
  terms.constant = (((a + b) + g) * shift + (c[P::X] + c[P::Y])) * shift;
  terms.constant = terms.constant + c[P::One];
  const Parts size = partsOf(form, form.size, "size", m, at, terms);
  const Parts small = partsOf(form, form.small, "small", m, at, terms);
  terms.largest = partsOf(form, form.largest, "largest", m, at, terms);
  terms.error = Upper{form.rounding} * size + Upper{form.underflow} * small + inexact(terms);
  return terms;
}

/// Which vectors a normalised form says something about.
struct RatioRange {
  double least, mostSquare; ///< The square of a length is between them.
  double leastShare;        ///< What is left of it without the mean is no less.
  double most;              ///< The sum of all values that fields are made of is no more.
};

/// \param square   of its length, \param whole  the same with its mean.
/// \param largest  that sum. All three are sums of what is not negative; NaN is in no range.
ANNUDF_CONVERSION bool isInRange(const RatioRange &range, double square, double whole,
                                 double largest) {
  return square >= range.least * kMoreThanLost && square <= range.mostSquare / kMoreThanLost &&
         square >= range.leastShare * whole * kMoreThanLost &&
         largest <= range.most / kMoreThanLost;
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_FORMTERMS_H
