//===- BoundRatio.h - A normalised form with captures --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A form with lengths (annudf/Artifact/Form.h) evaluated once for a binding of captures, as numbers
// that a scan computes bounds with; of other forms BoundForm.h has them. docs/spec/numerics.md,
// "The bound of a ratio", derives every term. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_BOUNDRATIO_H
#define ANNUDF_RUNTIME_ENGINE_BOUNDRATIO_H

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Artifact/Form.h"
#include "annudf/runtime/captures/Captures.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annudf::runtime {

/// With P = Σ xy x y, X = Σ xx x² and Y = Σ yy y² in real numbers, of a query's and a row's
/// coordinates as the hooks see them:
///
///   |ratio - P / √(X Y)| <= error   and   |ratio| <= most
///
/// With `means` P, X and Y are those of x and y less their means, Σ (x - x̄)(y - ȳ), Σ (x - x̄)² and
/// Σ (y - ȳ)², all of xy, xx and yy 1. That holds wherever X and Y are from least to mostSquare,
/// with means no less than leastShare of Σ x² and Σ y², and largest + Σ largestX x² +
/// Σ largestY y² <= limit; of others nothing is said. The ratio is what the distance is made of:
/// finalize of v in the field `product`, of 0 in those of means and of 1
/// in both others is the distance of ratio v, and it is monotone in v. A smaller sign * ratio is no
/// worse a distance. What a scan loses by computing P, X and Y in floats is its own to add.
struct BoundRatio {
  /// Arrays of one number a dimension.
  enum Term : uint8_t { XY, XX, YY, LargestX, LargestY };
  static constexpr size_t kTerms = LargestY + 1;

  int32_t dims = 0;
  double sign = 1; ///< 1 or -1.
  double error = 0, most = 0;
  double least = 0, mostSquare = 0;
  double largest = 0, limit = 0;
  uint32_t product = 0; ///< A field of the accumulator.
  /// Those of Σ x and Σ y.
  std::optional<std::array<uint32_t, 2>> means;
  double leastShare = 0;     ///< Without means 0.
  std::vector<double> terms; ///< kTerms x dims, in the order of Term; none but of XY negative.

  double *of(Term term) { return terms.data() + size_t(term) * size_t(dims); }
  const double *of(Term term) const { return terms.data() + size_t(term) * size_t(dims); }
};

/// \param dims   of the index.
/// \param order  of the metric.
/// \param whyNot  if not null, what the form lacks, in words, where nothing is returned.
std::optional<BoundRatio> bindRatio(const QuadraticForm &form, const BoundCaptures &captures,
                                    int32_t dims, annudf_order order, std::string *whyNot);

/// What one vector gives to a ratio, computed in double.
struct RatioPart {
  double square = 0; ///< X or Y, off by (dims + 16) 2⁻⁵² of itself at most.
  double mean = 0;   ///< For a ratio with means, off by (dims + 1) 2⁻⁵³ of the mean of |x| at most.
  /// Whether something is said of it: the largest may be half of the limit.
  bool holds = false;
};
RatioPart queryPart(const BoundRatio &ratio, std::span<const float> x);
RatioPart rowPart(const BoundRatio &ratio, std::span<const float> y);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_BOUNDRATIO_H
