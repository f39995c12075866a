//===- BoundRatio.cpp - A normalised form with captures -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "The bound of a ratio", derives every term.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/BoundRatio.h"

#include "../../kernels/Orders.h"
#include "BoundNodes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace annudf::runtime {

using namespace bounds;

namespace {

using Lengths = QuadraticForm::Lengths;

/// The limit of the sum of all values that fields are made of, and of what they lose below the
/// normal range.
constexpr double kLimit = 0x1p80;
/// The least square of a length: what is lost below the normal range is nothing of it.
constexpr double kLeast = 0x1p-40;
/// With means, what of Σ x² is left: where it is less, too much of the sums cancels.
constexpr double kLeastShare = 0x1p-5;
/// What a ratio may be, with its error.
constexpr double kMostRatio = 16;

double below(double value) { return std::nextafter(value, 0.0); }

class RatioBinder {
public:
  RatioBinder(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims,
              annudf_order order)
      : form_(form), lengths_(*form.lengths), nodes_(form, captures, dims) {
    const bool falls = form.finalize == QuadraticForm::Finalize::Falls;
    bound_.dims = dims;
    bound_.sign = annudf_kernels::isLargestBest(order) != falls ? -1 : 1;
    bound_.product = lengths_.product;
    if (lengths_.product >= (lengths_.means ? 5u : 3u))
      refuse("the artifact's form has a field " + std::to_string(lengths_.product) + " of " +
             (lengths_.means ? "5" : "3"));
    if (lengths_.means)
      setMeans(*lengths_.means);
    if (lengths_.least < Lengths::kLeast || lengths_.least > Lengths::kMostLeast)
      refuse("the artifact's form bounds squares of lengths by 2^" +
             std::to_string(lengths_.least));
    // What is computed of them differs by a quarter at most, and has to be in the form's range.
    bound_.least = std::max(kLeast, std::ldexp(1.0, lengths_.least + 1));
    bound_.mostSquare = std::ldexp(1.0, Lengths::kMost - 1);
    bound_.limit = kLimit;
    bound_.terms.resize(BoundRatio::kTerms * size_t(dims));
  }

  BoundRatio bind() {
    for (dim_ = 0; dim_ < bound_.dims; ++dim_)
      bindDim();
    bound_.largest = largest_.v;
    if (!(largest_.v <= kLimit / 4))
      refuse("its coefficients or the rows' mean are too large for a bound");
    setError();
    return std::move(bound_);
  }

private:
  [[noreturn]] void refuseHere(const std::string &what) const {
    refuse(what + " in dimension " + std::to_string(dim_));
  }

  void setMeans(const Lengths::Means &means) {
    for (uint32_t field : {means.x, means.y})
      if (field >= 5 || field == lengths_.product || means.x == means.y)
        refuse("the artifact's form has means of fields " + std::to_string(means.x) + " and " +
               std::to_string(means.y) + " of 5");
    bound_.means = {means.x, means.y};
    bound_.leastShare = kLeastShare;
    if (bound_.dims > ANNUDF_MAX_DIMS)
      refuse("its means are over more than " + std::to_string(ANNUDF_MAX_DIMS) + " dims");
    if (means.count == 0)
      return; // It is told how many.
    nodes_.evaluate(0);
    const Real count = nodes_[means.count];
    if (count.v != bound_.dims || count.e.v != 0)
      refuse("finalize divides by " + numberText(count.v) + ", but there are " +
             std::to_string(bound_.dims) + " dims");
  }

  Real finite(uint32_t node) const {
    const Real value = nodes_[node];
    if (!value.isFinite())
      refuseHere("a coefficient is not finite");
    return value;
  }

  Upper boundOf(uint32_t node) const {
    const Real value = finite(node);
    if (value.v < -value.e.v)
      refuseHere("the artifact's form has a bound below 0");
    return value.most();
  }

  void bindDim() {
    nodes_.evaluate(dim_);
    using Q = Quadratic;
    for (size_t i = 0; i < form_.exact.of.size(); ++i) {
      const bool isSquare = i == Q::XX || i == Q::YY;
      for (uint32_t node : {form_.exact.of[i], form_.size.of[i]})
        if (i != Q::XY && boundOf(node).v != 0)
          refuseHere("the artifact's form has a product with terms beside x * y");
      for (uint32_t node : {lengths_.exact.of[i], lengths_.size.of[i]})
        if (!isSquare && boundOf(node).v != 0)
          refuseHere("the artifact's form has lengths with terms beside x^2 and y^2");
    }
    const Real product = finite(form_.exact.of[Q::XY]);
    if (lengths_.means)
      for (const auto &[exact, size, power] : {std::tuple(&form_.exact, &form_.size, Q::XY),
                                               {&lengths_.exact, &lengths_.size, Q::XX},
                                               {&lengths_.exact, &lengths_.size, Q::YY}})
        if (const Real of = finite(exact->of[power]);
            of.v != 1 || of.e.v != 0 || boundOf(size->of[power]).v != 1)
          refuseHere("its means are sums with coefficients other than 1");
    const double x = squareOf(Q::XX), y = squareOf(Q::YY);
    const Upper both{leastRoot(x, y)};
    product_ = larger(product_, share(product.most(), both));
    size_ = larger(size_, share(boundOf(form_.size.of[Q::XY]), both));
    bound_.of(BoundRatio::XY)[dim_] = bound_.sign * product.v;
    inexact_ = larger(inexact_, share(product.e, both));

    setLargest();
  }

  /// α or γ as a double; what it is at least.
  double squareOf(Quadratic::Power power) {
    const Real square = finite(lengths_.exact.of[power]);
    const double least = square.e.v == 0 ? square.v : below(square.v - square.e.v);
    if (!(least >= 0))
      refuseHere(std::string("the square of a length has a negative factor of ") +
                 (power == Quadratic::XX ? "x^2" : "y^2"));
    const Upper size = boundOf(lengths_.size.of[power]);
    if (least == 0 && size.v != 0)
      refuseHere("the terms of a length cancel");
    if (least > 0) {
      cancelled_ = larger(cancelled_, size / Upper{least});
      inexactSquare_ = larger(inexactSquare_, square.e / Upper{least});
    }
    bound_.of(power == Quadratic::XX ? BoundRatio::XX : BoundRatio::YY)[dim_] = square.v;
    return least;
  }

  static double leastRoot(double x, double y) {
    return x == 0 || y == 0 ? 0 : below(below(std::sqrt(x)) * below(std::sqrt(y)));
  }

  /// What lengths count in a dimension, in what a product counts there.
  Upper share(Upper of, Upper root) const {
    if (of.v == 0)
      return {};
    if (!(root.v >= 1e-150))
      refuseHere("the product uses a coordinate that a length leaves out");
    return of / root;
  }

  /// |x y| <= (x² + y²) / 2, |x| <= (1 + x²) / 2
  void setLargest() {
    using Q = Quadratic;
    Upper x, y;
    for (const Quadratic *one : {&form_.largest, &form_.small, &lengths_.small}) {
      const auto of = [&](Q::Power power) { return boundOf(one->of[power]); };
      const Upper half{0.5};
      x += of(Q::XX) + half * (of(Q::XY) + of(Q::X));
      y += of(Q::YY) + half * (of(Q::XY) + of(Q::Y));
      largest_ += of(Q::One) + half * (of(Q::X) + of(Q::Y));
    }
    for (const auto &[term, value] :
         {std::pair(BoundRatio::LargestX, x), {BoundRatio::LargestY, y}}) {
      if (!std::isfinite(value.v))
        refuseHere("a coefficient is not finite");
      bound_.of(term)[dim_] = value.v;
    }
  }

  static Upper larger(Upper a, Upper b) { return a.v > b.v ? a : b; }

  /// E - 1, and E η of all that is lost, as a share of the least root or square.
  std::pair<Upper, Upper> lostBy(const Roundings &roundings, uint32_t accumulations, double eta) {
    if (!(eta >= 0) || !std::isfinite(eta))
      refuse("the artifact's form has an underflow of " + std::to_string(eta));
    const Upper rounding = growthOf(roundings, accumulations, bound_.dims);
    return {rounding, (Upper{1} + rounding) * Upper{eta} * Upper{kLimit} / Upper{bound_.least}};
  }

  /// For a sum that is off by a share of the root of Σ x² Σ y²: what that is less its means, in the
  /// root of what both squares are less theirs.
  Upper lessMeans(Upper lost) {
    if (!lengths_.means)
      return lost;
    const Roundings &n = lengths_.means->roundings;
    if (n.f16 != 0 || n.f32 > Lengths::kMostRoundings || n.f64 > Lengths::kMostRoundings)
      refuse("its means have more roundings than a bound allows for");
    // ν / (1 - ν) <= ν + 2 ν² up to a half.
    const Upper nu = Upper{double(n.f32)} * Upper{0x1p-24} + Upper{double(n.f64)} * Upper{0x1p-53},
                rounded = Upper{1} + nu + Upper{2} * nu * nu,
                sum = Upper{1} + growthOf({}, 1, bound_.dims);
    // What is subtracted is off by sum² rounded - 1, and the difference of both is rounded.
    const Upper all = (lost + sum * sum * rounded) * rounded;
    return (Upper{std::nextafter(all.v - 1, kInfinity)} + Upper{0x1p-70}) / Upper{kLeastShare};
  }

  void setError() {
    const auto [rounding, under] = lostBy(form_.roundings, form_.accumulations, form_.eta);
    const auto [ofSquare, underSquare] =
        lostBy(lengths_.roundings, lengths_.accumulations, lengths_.eta);
    const Upper product = lessMeans(rounding * size_ + under);
    const Upper square = lessMeans(ofSquare * cancelled_ + underSquare);
    if (square.v > 0.25)
      refuse("rounding may change the square of a length by more than a quarter");
    // 1 / √(1 - d) <= 1 + d / 2 + d² / 2 up to a quarter.
    const Upper length = Upper{1} + Upper{0.5} * (square + square * square);
    const Roundings &n = lengths_.ratio;
    if (n.f16 != 0 || n.f32 > Lengths::kMostRoundings || n.f64 > Lengths::kMostRoundings)
      refuse("its ratio has more roundings than a bound allows for");
    const Upper t = Upper{double(n.f32)} * Upper{0x1p-24} + Upper{double(n.f64)} * Upper{0x1p-53};
    const Upper off = length * length * (Upper{1} + t + Upper{2} * t * t);
    const Upper grown{std::nextafter(off.v - 1, kInfinity)};
    // Coefficients as doubles give another ratio: each square is off by inexactSquare_ of itself.
    const Upper doubles = inexact_ + Upper{2} * product_ * inexactSquare_;
    bound_.error =
        (product_ * grown + product * off + Upper{double(n.f32)} * Upper{0x1p-29} + doubles).v;
    bound_.most = (product_ + Upper{bound_.error}).v;
    if (!(bound_.most <= kMostRatio) || !(inexactSquare_.v <= 0x1p-40))
      refuse("the ratio may be more than " + std::to_string(int(kMostRatio)));
  }

  const QuadraticForm &form_;
  const Lengths &lengths_;
  Nodes nodes_;
  BoundRatio bound_;
  int32_t dim_ = 0;
  Upper product_, size_; ///< The most of |β| and of its size, in √(α γ).
  Upper cancelled_;      ///< The most of a square's size in the square.
  Upper inexact_, inexactSquare_;
  Upper largest_;
};

RatioPart partOf(const BoundRatio &ratio, const double *square, const double *largest,
                 std::span<const float> from) {
  RatioPart part;
  double sum = ratio.largest / 2, all = 0;
  for (size_t d = 0; d < size_t(ratio.dims); ++d) {
    const double x = from[d];
    all += square[d] * x * x;
    sum += largest[d] * x * x;
    part.mean += x;
  }
  part.mean = ratio.means ? part.mean / ratio.dims : 0;
  part.square = ratio.means ? 0 : all;
  for (size_t d = 0; ratio.means && d < size_t(ratio.dims); ++d) {
    const double less = from[d] - part.mean;
    part.square += less * less;
  }
  part.holds = annudf_kernels::isInRange(
      {ratio.least, ratio.mostSquare, ratio.leastShare, ratio.limit / 2}, part.square, all, sum);
  return part;
}

} // namespace

std::optional<BoundRatio> bindRatio(const QuadraticForm &form, const BoundCaptures &captures,
                                    int32_t dims, annudf_order order, std::string *whyNot) {
  try {
    if (dims < 1)
      refuse("dims is " + std::to_string(dims) + "; it must be above 0");
    if (!form.lengths)
      refuse("the accumulator has one field");
    return RatioBinder(form, captures, dims, order).bind();
  } catch (const CannotBind &fault) {
    if (whyNot)
      *whyNot = fault.why;
    return std::nullopt;
  }
}

RatioPart queryPart(const BoundRatio &ratio, std::span<const float> x) {
  return partOf(ratio, ratio.of(BoundRatio::XX), ratio.of(BoundRatio::LargestX), x);
}

RatioPart rowPart(const BoundRatio &ratio, std::span<const float> y) {
  return partOf(ratio, ratio.of(BoundRatio::YY), ratio.of(BoundRatio::LargestY), y);
}

} // namespace annudf::runtime
