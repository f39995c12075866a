//===- BoundForm.cpp - A metric's formula with captures and a shift -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "The bound", derives every term.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/BoundForm.h"

#include "BoundNodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace annudf::runtime {

using namespace bounds;
using annudf_kernels::FormTerms;
using annudf_kernels::Parts;
using annudf_kernels::TermsFault;

namespace {

class Binder {
public:
  Binder(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims,
         std::span<const float> shift, annudf_order order)
      : form_(form), nodes_(form, captures, dims), polynomials_(polynomialsOf(form, dims)),
        shift_(shift) {
    bound_.dims = dims;
    bound_.sign = signOf(form, order);
    bound_.limit = limitOf(form);
    bound_.terms.resize(BoundForm::kTerms * size_t(dims));
  }

  BoundForm bind() {
    const Real initial{form_.initial, {}};
    constant_ = initial;
    error_ = Upper{polynomials_.rounding} * initial.most();
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

  void bindDim() {
    nodes_.evaluate(dim_);
    const float shift = shift_.empty() ? 0 : shift_[size_t(dim_)];
    if (!std::isfinite(shift))
      refuseHere("the shift is not finite");
    const FormTerms terms =
        annudf_kernels::termsOf(polynomials_, shift, [&](uint32_t node) { return nodes_[node]; });
    checkFault(terms);
    constant_ = constant_ + terms.constant;
    error_ += terms.error.one;
    largest_ += terms.largest.one;
    set(BoundForm::Shift, shift);
    set(BoundForm::X1, bound_.sign * terms.x1.v);
    set(BoundForm::X2, bound_.sign * terms.x2.v);
    set(BoundForm::XY, bound_.sign * terms.xy.v);
    set(BoundForm::Y1, bound_.sign * terms.y1.v);
    set(BoundForm::Y2, bound_.sign * terms.y2.v);
    set(BoundForm::ErrorX1, terms.error);
    set(BoundForm::LargestX1, terms.largest);
  }

  void checkFault(const FormTerms &terms) const {
    switch (terms.fault) {
    case TermsFault::None:
      return;
    case TermsFault::NotFinite:
      refuseHere("a coefficient is not finite");
    case TermsFault::BelowZero:
      refuseHere(std::string("the artifact's form has a ") + terms.of + " below 0");
    case TermsFault::BeyondDifference:
      refuseHere(std::string("the artifact's form has a ") + terms.of +
                 " with terms beside |x - y|");
    }
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
  const FormPolynomials polynomials_;
  const std::span<const float> shift_;
  BoundForm bound_;
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
  // The error of n roundings 1 + δ in sequence, |δ| <= 2^-53, and of their underflow; twice what is
  // needed.
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
      refuse("dims is " + std::to_string(dims) + "; it must be above 0");
    if (!shift.empty() && shift.size() != size_t(dims))
      refuse("the shift has " + std::to_string(shift.size()) + " dims, not " +
             std::to_string(dims));
    if (form.lengths)
      refuse("the accumulator has several fields");
    return Binder(form, captures, dims, shift, order).bind();
  } catch (const CannotBind &fault) {
    if (whyNot)
      *whyNot = fault.why;
    return std::nullopt;
  }
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
