//===- BoundForm.cpp - A metric's formula with captures and a shift -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/numerics.md, "The bound", derives every term.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/BoundForm.h"

#include "../../kernels/Orders.h"
#include "BoundNodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace annudf::runtime {

using namespace bounds;

namespace {

/// At least a polynomial of |x| and |y|, or of |x - y|, as one of |X| and one of |Y|.
struct Parts {
  Upper x1, x2, y1, y2, one;

  friend Parts operator+(const Parts &a, const Parts &b) {
    return {a.x1 + b.x1, a.x2 + b.x2, a.y1 + b.y1, a.y2 + b.y2, a.one + b.one};
  }
  friend Parts operator*(Upper s, const Parts &p) {
    return {s * p.x1, s * p.x2, s * p.y1, s * p.y2, s * p.one};
  }
};

class Binder {
public:
  Binder(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims,
         std::span<const float> shift, annudf_order order)
      : form_(form), nodes_(form, captures, dims), shift_(shift) {
    const bool falls = form.finalize == QuadraticForm::Finalize::Falls;
    bound_.dims = dims;
    bound_.sign = annudf_kernels::isLargestBest(order) != falls ? -1 : 1;
    setRoundings();
    bound_.terms.resize(BoundForm::kTerms * size_t(dims));
  }

  BoundForm bind() {
    const Real initial{form_.initial, {}};
    constant_ = initial;
    error_ = rounding_ * initial.most();
    largest_ = initial.most();
    for (dim_ = 0; dim_ < bound_.dims; ++dim_)
      bindDim();
    bound_.constant = bound_.sign * constant_.v;
    bound_.error = (error_ + constant_.e).v;
    bound_.largest = largest_.v;
    if (!std::isfinite(bound_.constant) || !std::isfinite(bound_.error) ||
        !std::isfinite(bound_.largest))
      refuse("its sum over the dimensions is not finite");
    return std::move(bound_);
  }

private:
  [[noreturn]] void refuseHere(const std::string &what) const {
    refuse(what + " in dimension " + std::to_string(dim_));
  }

  /// E - 1 and E eta of Form.h, and where it holds.
  void setRoundings() {
    const Roundings &n = form_.roundings;
    rounding_ = growthOf(n, form_.accumulations, bound_.dims);
    if (!(form_.eta >= 0) || !std::isfinite(form_.eta))
      refuse("its form says that underflow loses " + std::to_string(form_.eta));
    underflow_ = (Upper{1} + rounding_) * Upper{form_.eta};
    // Far below what f32 holds, or f16, for roundings up to a factor of E < 2.
    bound_.limit = n.f16 != 0 ? 0x1p14 : 0x1p123;
    if (!std::isfinite(form_.initial))
      refuse("its accumulator begins as what is not finite");
  }

  void bindDim() {
    nodes_.evaluate(dim_);
    const float shift = shift_.empty() ? 0 : shift_[size_t(dim_)];
    if (!std::isfinite(shift))
      refuseHere("the shift is not finite");
    const Real m{shift, {}}, two{2, {}};
    std::array<Real, 6> c;
    for (size_t i = 0; i < c.size(); ++i)
      if (c[i] = nodes_[form_.exact.of[i]]; !c[i].isFinite())
        refuseHere("a coefficient is not finite");
    const Real a = c[Quadratic::XX], b = c[Quadratic::XY], g = c[Quadratic::YY];
    const Real x1 = (two * a + b) * m + c[Quadratic::X], y1 = (b + two * g) * m + c[Quadratic::Y];
    constant_ = constant_ + (((a + b) + g) * m + (c[Quadratic::X] + c[Quadratic::Y])) * m +
                c[Quadratic::One];

    const Parts error = rounding_ * partsOf(form_.size, "size") +
                        underflow_ * partsOf(form_.small, "small") + inexact(x1, a, b, y1, g);
    const Parts largest = partsOf(form_.largest, "largest");
    error_ += error.one;
    largest_ += largest.one;
    set(BoundForm::Shift, shift);
    set(BoundForm::X1, bound_.sign * x1.v);
    set(BoundForm::X2, bound_.sign * a.v);
    set(BoundForm::XY, bound_.sign * b.v);
    set(BoundForm::Y1, bound_.sign * y1.v);
    set(BoundForm::Y2, bound_.sign * g.v);
    set(BoundForm::ErrorX1, error);
    set(BoundForm::LargestX1, largest);
  }

  /// What the coefficients, as doubles, may be off.
  static Parts inexact(Real x1, Real x2, Real xy, Real y1, Real y2) {
    const Upper half = Upper{0.5} * xy.e; // |X Y| <= (X² + Y²) / 2
    return {x1.e, x2.e + half, y1.e, y2.e + half, {}};
  }

  Parts partsOf(const Quadratic &poly, const char *name) const {
    std::array<Upper, 6> c;
    for (size_t i = 0; i < c.size(); ++i) {
      const Real value = nodes_[poly.of[i]];
      c[i] = value.most();
      if (!std::isfinite(c[i].v))
        refuseHere("a coefficient is not finite");
      if (value.v < -value.e.v)
        refuseHere(std::string("its form has a ") + name + " below 0");
    }
    using P = Quadratic;
    const Upper two{2};
    if (form_.ofDifference) { // |x - y| <= |X| + |Y|, and its square <= 2 X² + 2 Y²
      if (c[P::XY].v != 0 || c[P::YY].v != 0 || c[P::Y].v != 0)
        refuseHere(std::string("its form has a ") + name + " of more than |x - y|");
      return {c[P::X], two * c[P::XX], c[P::X], two * c[P::XX], c[P::One]};
    }
    // |x y| <= (x² + y²) / 2, |x| <= |X| + |m|
    const Upper half = Upper{0.5} * c[P::XY], x2 = c[P::XX] + half, y2 = c[P::YY] + half;
    const Upper m{shift_.empty() ? 0 : std::abs(double(shift_[size_t(dim_)]))};
    return {c[P::X] + two * m * x2, x2, c[P::Y] + two * m * y2, y2,
            c[P::One] + m * (c[P::X] + c[P::Y]) + m * m * (x2 + y2)};
  }

  void set(BoundForm::Term term, double value) {
    if (!std::isfinite(value))
      refuseHere("a coefficient is not finite");
    bound_.of(term)[dim_] = value;
  }
  /// The four terms from `first` on.
  void set(BoundForm::Term first, const Parts &parts) {
    const std::array<double, 4> values = {parts.x1.v, parts.x2.v, parts.y1.v, parts.y2.v};
    for (size_t i = 0; i < values.size(); ++i)
      set(static_cast<BoundForm::Term>(first + i), values[i]);
  }

  const QuadraticForm &form_;
  Nodes nodes_;
  const std::span<const float> shift_;
  BoundForm bound_;
  Upper rounding_, underflow_; ///< E - 1, E eta.
  int32_t dim_ = 0;
  Real constant_;
  Upper error_, largest_;
};

/// The terms of a query, or of a row.
struct Side {
  const double *one, *two, *error1, *error2, *largest1, *largest2;
};

BoundPart partOf(const BoundForm &form, const Side &side, std::span<const float> from) {
  const double *const shift = form.of(BoundForm::Shift);
  double value = 0, error = 0, largest = 0, size = 0;
  for (size_t d = 0; d < size_t(form.dims); ++d) {
    const double x = double(from[d]) - shift[d], square = x * x, length = std::abs(x);
    value += side.one[d] * x + side.two[d] * square;
    size += std::abs(side.one[d]) * length + std::abs(side.two[d]) * square;
    error += side.error1[d] * length + side.error2[d] * square;
    largest += side.largest1[d] * length + side.largest2[d] * square;
  }
  // Of n roundings 1 + δ in sequence, |δ| <= 2^-53, and of their underflow; twice what is needed.
  const double n = double(form.dims) + 8, rounding = n * 0x1p-52, underflow = n * 0x1p-1060;
  return {value, (error + size * rounding) * (1 + 2 * rounding) + underflow,
          largest * (1 + 2 * rounding) + underflow};
}

} // namespace

std::optional<BoundForm> bindForm(const QuadraticForm &form, const BoundCaptures &captures,
                                  int32_t dims, std::span<const float> shift, annudf_order order,
                                  std::string *whyNot) {
  try {
    if (dims < 1)
      refuse(std::to_string(dims) + " dims");
    if (!shift.empty() && shift.size() != size_t(dims))
      refuse("a shift of " + std::to_string(shift.size()) + " dims, of " + std::to_string(dims));
    if (form.lengths)
      refuse("its form is of several fields");
    return Binder(form, captures, dims, shift, order).bind();
  } catch (const CannotBind &fault) {
    if (whyNot)
      *whyNot = fault.why;
    return std::nullopt;
  }
}

std::vector<float> meanOfRows(const Index &index) {
  const auto dims = static_cast<size_t>(index.dims());
  std::vector<double> sums(dims);
  for (uint32_t list = 0; list < index.nLists(); ++list)
    for (size_t d = 0; d < dims; ++d)
      sums[d] += double(index.listSize(list)) * double(index.centers()[list * dims + d]);
  std::vector<float> mean(dims);
  for (size_t d = 0; d < dims; ++d)
    if (const auto value = float(sums[d] / double(std::max<int64_t>(index.size(), 1)));
        std::isfinite(value))
      mean[d] = value;
  return mean;
}

BoundPart queryPart(const BoundForm &form, std::span<const float> x) {
  using F = BoundForm;
  return partOf(form,
                {form.of(F::X1), form.of(F::X2), form.of(F::ErrorX1), form.of(F::ErrorX2),
                 form.of(F::LargestX1), form.of(F::LargestX2)},
                x);
}

BoundPart rowPart(const BoundForm &form, std::span<const float> y) {
  using F = BoundForm;
  return partOf(form,
                {form.of(F::Y1), form.of(F::Y2), form.of(F::ErrorY1), form.of(F::ErrorY2),
                 form.of(F::LargestY1), form.of(F::LargestY2)},
                y);
}

double lowerBound(const BoundForm &form, const BoundPart &query, const BoundPart &row, double cross,
                  double crossError) {
  if (!(form.largest + query.largest + row.largest <= form.limit))
    return -kInfinity;
  const double value = form.constant + query.value + row.value + cross;
  const double size =
      std::abs(form.constant) + std::abs(query.value) + std::abs(row.value) + std::abs(cross);
  const double error = form.error + query.error + row.error + crossError + size * 0x1p-50;
  const double bound = value - error * (1 + 0x1p-49);
  return std::isnan(bound) ? -kInfinity : bound;
}

} // namespace annudf::runtime
