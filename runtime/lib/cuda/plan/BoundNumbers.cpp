//===- BoundNumbers.cpp - Forms as Products.cu takes them -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "By matrix products on a GPU", derives the constants.
//
//===----------------------------------------------------------------------===//

#include "BoundNumbers.h"

#include "annudf/runtime/engine/Reason.h"
#include "engine/BoundNodes.h"
#include "kernels/FormNodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace annudf::runtime::cuda {

namespace {

using annudf_kernels::kMoreThanLost;

float roundedUp(double value) {
  const auto rounded = float(value);
  return double(rounded) >= value ? rounded
                                  : std::nextafter(rounded, std::numeric_limits<float>::infinity());
}

template <class Dim> void append(std::vector<double> &to, const Dim &dim) {
  std::array<double, sizeof(Dim) / sizeof(double)> numbers;
  static_assert(sizeof numbers == sizeof dim, "numbers in double");
  std::memcpy(numbers.data(), &dim, sizeof dim);
  to.insert(to.end(), numbers.begin(), numbers.end());
}

} // namespace

BoundNumbers numbersOf(const BoundForm &form) {
  using F = BoundForm;
  BoundNumbers numbers;
  for (size_t d = 0; d < size_t(form.dims); ++d) {
    const auto of = [&](F::Term term) { return form.of(term)[d]; };
    append<annudf_matrix_dim>(numbers.dims, {of(F::Shift), of(F::X1), of(F::X2), of(F::Y1),
                                             of(F::Y2), of(F::XY), of(F::ErrorX1), of(F::ErrorX2),
                                             of(F::ErrorY1), of(F::ErrorY2), of(F::LargestX1),
                                             of(F::LargestX2), of(F::LargestY1), of(F::LargestY2)});
  }
  // Half of what may be largest for a row, half for a query and what hangs on neither.
  numbers.form = {0, form.constant, form.error, form.largest, form.limit / 2};
  numbers.sign = float(form.sign);
  return numbers;
}

std::optional<BoundNumbers> numbersOf(const BoundRatio &ratio, const std::vector<float> &shift,
                                      std::string &why) {
  using R = BoundRatio;
  BoundNumbers numbers;
  numbers.isRatio = true;
  double ofQuery = 0, ofRow = 0,
         mostProduct = 0; // Parts of products: in squares of lengths; the most.
  double ofShift = 0;
  for (size_t d = 0; d < size_t(ratio.dims); ++d) {
    const auto of = [&](R::Term term) { return ratio.of(term)[d]; };
    append<annudf_matrix_ratio_dim>(numbers.dims, {shift[d], of(R::XY), of(R::XX), of(R::YY),
                                                   of(R::LargestX), of(R::LargestY)});
    ofShift += of(R::LargestY) * shift[d] * shift[d];
    if (const double product = std::abs(of(R::XY)); product != 0) {
      ofQuery = std::max(ofQuery, product / of(R::XX));
      ofRow = std::max(ofRow, product / of(R::YY));
      mostProduct = std::max(mostProduct, product);
    }
  }
  const double sums = (ratio.dims + 16) * 0x1p-51;
  // What squares may be with their means, in what they are without.
  const double share = ratio.means ? 1 / ratio.leastShare : 1;
  const double error = ratio.error + ratio.most * 0x1p-20 +
                       std::sqrt(ofQuery * ofRow) * sums * share + (ratio.dims + 16) * 0x1p-100;
  numbers.ratio.largest = ratio.largest / 2, numbers.ratio.most = ratio.limit / 2;
  numbers.ratio.least = ratio.least, numbers.ratio.mostSquare = ratio.mostSquare;
  numbers.ratio.lengthError = std::sqrt(ofQuery * mostProduct) * sums * kMoreThanLost;
  numbers.ratio.error = roundedUp(error * (1 + 0x1p-20));
  numbers.sign = float(ratio.sign);
  numbers.product = ratio.product;
  if (ratio.means) {
    numbers.ratio.perDim = 1.0 / ratio.dims, numbers.ratio.leastShare = ratio.leastShare;
    for (uint32_t field : *ratio.means)
      numbers.zeros |= 1U << field;
  }
  // A mean far from most rows is no shift: nothing would be left out.
  if (!(ofShift <= ratio.limit) || !(ratio.most <= ANNUDF_MATRIX_MOST_RATIO) ||
      !(numbers.ratio.error <= 1) || !(numbers.ratio.lengthError <= 0x1p40)) {
    why = "its coefficients or the rows' mean are too large for a bound";
    return std::nullopt;
  }
  return numbers;
}

std::optional<BoundNumbers> numbersOf(const QuadraticForm &form, const BoundCaptures &captures,
                                      const std::vector<float> &shift, annudf_order order,
                                      std::string &why) {
  const auto dims = int32_t(shift.size());
  if (!form.lengths) {
    const auto bound = bindForm(form, captures, dims, shift, order, &why);
    return bound ? std::optional(numbersOf(*bound)) : std::nullopt;
  }
  const auto bound = bindRatio(form, captures, dims, order, &why);
  return bound ? numbersOf(*bound, shift, why) : std::nullopt;
}

Squares squaresOf(std::vector<float> largest, int32_t dims) {
  // The median list's: one row far from all others leaves the rest as near as they are.
  std::erase_if(largest, [](float most) { return !(most > 0) || !std::isfinite(most); });
  int exponent = 0;
  if (!largest.empty()) {
    const auto median = largest.begin() + std::ptrdiff_t(largest.size() / 2);
    std::nth_element(largest.begin(), median, largest.end());
    exponent = std::clamp(std::ilogb(*median), -100, 100);
  }
  // Most coordinates are a few times smaller than the largest, and their squares many times.
  const double square = std::ldexp(1, 1 - exponent);
  // A coordinate and its square are at most 2 and 8 / square in that list.
  constexpr double kLonger = 0x1p12;
  return {square, kLonger * std::sqrt(double(dims)) / square};
}

std::optional<BoundNumbers> ownNumbersOf(const QuadraticForm &form, const BoundCaptures &captures,
                                         int32_t dims, const Squares &squares, annudf_order order,
                                         std::string &why) try {
  BoundNumbers numbers;
  numbers.isOwn = true;
  numbers.nodes = bounds::nodesOf(form, captures, dims, bounds::Entries::OfQueries);
  if (numbers.nodes.size() > ANNUDF_MATRIX_OWN_NODES)
    bounds::refuse(textOf({Reason::ManyNodes, ANNUDF_MATRIX_OWN_NODES}));
  annudf_matrix_own &own = numbers.own;
  own.polynomials = bounds::polynomialsOf(form, dims);
  own.sign = bounds::signOf(form, order);
  own.initial = own.sign * form.initial;
  own.limit = bounds::limitOf(form);
  own.square = squares.square, own.mostLength = squares.mostLength;
  own.nNodes = static_cast<uint32_t>(numbers.nodes.size());
  numbers.sign = float(own.sign);
  return numbers;
} catch (const bounds::CannotBind &fault) {
  why = fault.why;
  return std::nullopt;
}

} // namespace annudf::runtime::cuda
