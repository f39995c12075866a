//===- BoundForm.h - A metric's formula with captures and a shift --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quadratic form (annudf/Artifact/Form.h) evaluated once for a binding of captures and an index,
// as numbers that a scan computes lower bounds with. docs/spec/numerics.md, "The bound", derives
// every term. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_BOUNDFORM_H
#define ANNUDF_RUNTIME_ENGINE_BOUNDFORM_H

#include "annudf/Artifact/Form.h"
#include "annudf/runtime/captures/Captures.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annudf::runtime {

/// With X = x - m and Y = y - m of a query's and a row's coordinates as the hooks see them, m the
/// shift:
///
///   |sign * accumulator - (constant + Q(x) + R(y) + Σ xy X Y)| <= error + errorQ(x) + errorR(y)
///   Q = Σ x1 X + x2 X²   errorQ = Σ errorX1 |X| + errorX2 X²
///   R = Σ y1 Y + y2 Y²   errorR = Σ errorY1 |Y| + errorY2 Y²
///
/// in real numbers, for the accumulator that update computes at last, wherever
/// largest + largestQ(x) + largestR(y) <= limit; beyond it nothing is said. A smaller
/// sign * accumulator is a better distance. What a scan loses by computing the left side in floats
/// is its own to add. Errors and largest are not negative.
struct BoundForm {
  /// Arrays of one number a dimension.
  enum Term : uint8_t {
    Shift,
    X1,
    X2,
    XY,
    Y1,
    Y2,
    ErrorX1,
    ErrorX2,
    ErrorY1,
    ErrorY2,
    LargestX1,
    LargestX2,
    LargestY1,
    LargestY2
  };
  static constexpr size_t kTerms = LargestY2 + 1;

  int32_t dims = 0;
  double sign = 1; ///< 1 or -1.
  double constant = 0, error = 0, largest = 0;
  double limit = 0;
  std::vector<double> terms; ///< kTerms x dims, in the order of Term.

  double *of(Term term) { return terms.data() + size_t(term) * size_t(dims); }
  const double *of(Term term) const { return terms.data() + size_t(term) * size_t(dims); }
};

/// \param dims   of the index.
/// \param shift  one a dimension, finite; a mean of the data makes bounds tight. Empty: zeros.
/// \param order  of the metric.
/// \param whyNot  if not null, what the form lacks, in words, where nothing is returned.
std::optional<BoundForm> bindForm(const QuadraticForm &form, const BoundCaptures &captures,
                                  int32_t dims, std::span<const float> shift, annudf_order order,
                                  std::string *whyNot);

/// What one vector gives to the bound. The error covers that of `value` too.
struct BoundPart {
  double value = 0, error = 0, largest = 0;
};

/// Q, errorQ and largestQ of a query's coordinates, computed in double.
BoundPart queryPart(const BoundForm &form, std::span<const float> x);
/// The same of a row.
BoundPart rowPart(const BoundForm &form, std::span<const float> y);

/// At most sign * accumulator; -infinity where the form says nothing. \param cross  Σ xy X Y but
/// for crossError.
double lowerBound(const BoundForm &form, const BoundPart &query, const BoundPart &row, double cross,
                  double crossError);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_BOUNDFORM_H
