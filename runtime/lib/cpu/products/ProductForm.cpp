//===- ProductForm.cpp - What rows are looked at with ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "On the CPU", derives the constants.
//
//===----------------------------------------------------------------------===//

#include "ProductRows.h"
#include "kernels/FormNodes.h"

#include <algorithm>
#include <cmath>

namespace annudf::runtime::cpu {

namespace {

/// Beside the errors of a row's part its largest counts for so much, so that those bound it.
constexpr double kPerLargest = 0x1p-40;
/// The same of a ratio, whose parts have no errors of their own.
constexpr double kPerLargestOfRatio = 0x1p-20;
using annudf_kernels::kMoreThanLost;
/// Between which coefficients floats compute bounds.
constexpr double kMost = 1e30, kLeast = 1e-30;

std::string beyond(size_t dim) {
  return "a coefficient is beyond 1e-30 to 1e30 in dimension " + std::to_string(dim);
}

bool isUsual(double coefficient) {
  const double size = std::abs(coefficient);
  return size == 0 || (size >= kLeast && size <= kMost);
}

} // namespace

void ProductForm::setProduct() {
  product = 0x1p-19 + (form.dims + 64) * 0x1p-23;
  least = 0x1p-120f;
  for (const RowTerms &term : terms)
    least += term.cross * 0x1p-98f;
}

std::string ProductForm::setTerms(const std::vector<double> &spread) {
  using F = BoundForm;
  const auto dims = size_t(form.dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form.of(term)[d]); };
    for (F::Term term : {F::X1, F::X2, F::XY, F::Y1, F::Y2})
      if (!isUsual(of(term)))
        return beyond(d);
    for (F::Term term : {F::ErrorY1, F::ErrorY2, F::LargestY1, F::LargestY2})
      if (of(term) > kMost)
        return "a coefficient is beyond 1e30 in dimension " + std::to_string(d);
  }
  // |Y| <= s / 2 + Y² / (2 s): what a row's part is off, and its largest, as Σ c Y² + constant.
  std::vector<double> error(dims);
  const double sums = (form.dims + 16) * 0x1p-23;
  double constantError = 0, constantLargest = 0, ratio = 0;
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form.of(term)[d]); };
    const double s = spread[d], error1 = of(F::ErrorY1) + sums * of(F::Y1) + 0x1p-124;
    const double largest = of(F::LargestY2) + of(F::LargestY1) / (2 * s);
    error[d] = of(F::ErrorY2) + sums * of(F::Y2) + error1 / (2 * s);
    error[d] = std::max(error[d], kPerLargest * largest);
    constantError += error1 * s / 2;
    constantLargest += of(F::LargestY1) * s / 2;
    if (of(F::XY) != 0)
      ratio = std::max(ratio, error[d] / of(F::XY));
  }
  // One sum serves all: cross is no less than |xy|, nor than error / ratio.
  ratio = std::clamp(ratio, 0x1p-22, 0x1p-9);
  terms.resize(dims);
  inverse.resize(dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return form.of(term)[d]; };
    const double cross = std::max(std::abs(of(F::XY)), error[d] / ratio);
    inverse[d] = of(F::XY) != 0 ? 1 / std::abs(of(F::XY)) : 0;
    terms[d] = {float(of(F::Shift)), float(of(F::Y1)), float(of(F::Y2)),
                roundedUp(cross * kMoreThanLost)};
  }
  setProduct();
  this->error = roundedUp(ratio * kMoreThanLost);
  this->constantError = roundedUp(constantError * kMoreThanLost);
  limit = float(std::min(form.limit / 8 * kPerLargest / ratio, 1e36) / kMoreThanLost);
  if (!(form.largest <= form.limit / 4 && constantLargest <= form.limit / 8 &&
        constantError <= 1e30))
    return "its coefficients or the rows' mean are too large for a bound";
  return "";
}

std::string ProductForm::setRatio(BoundRatio bound, const std::vector<float> &shift) {
  using R = BoundRatio;
  ratio = std::move(bound);
  const auto dims = size_t(ratio->dims);
  form.dims = ratio->dims, form.sign = ratio->sign;
  form.terms.resize(BoundForm::kTerms * dims);
  std::copy(shift.begin(), shift.end(), form.of(BoundForm::Shift));
  std::copy_n(ratio->of(R::XY), dims, form.of(BoundForm::XY));
  terms.resize(dims);
  inverse.resize(dims);
  double constant = ratio->largest, squares = 0, ofQuery = 0, ofRow = 0, factors = 0;
  for (size_t d = 0; d < dims; ++d) {
    const double m = shift[d], xy = std::abs(ratio->of(R::XY)[d]), xx = ratio->of(R::XX)[d],
                 yy = ratio->of(R::YY)[d], largest = ratio->of(R::LargestY)[d];
    if (!isUsual(xy) || !isUsual(xx) || !isUsual(yy))
      return beyond(d);
    if (largest > kMost)
      return "a coefficient is beyond 1e30 in dimension " + std::to_string(d);
    // y² <= 2 Y² + 2 m²
    constant += 2 * largest * m * m;
    squares += yy;
    inverse[d] = xy != 0 ? 1 / xy : 0;
    if (xy != 0) {
      ofQuery = std::max(ofQuery, xy / xx), ofRow = std::max(ofRow, xy / yy);
      factors += xy / std::sqrt(xx);
    }
    terms[d] = {shift[d], 0, float(yy),
                roundedUp(std::max(xy, kPerLargestOfRatio * largest) * kMoreThanLost)};
  }
  setProduct();
  if (!(constant <= ratio->limit / 4))
    return "its coefficients or the rows' mean are too large for a bound";
  limit = float(std::min(ratio->limit / 8 * kPerLargestOfRatio, 1e36) / kMoreThanLost);
  // Squares of coordinates below the normal range lose up to 2^-149 each, before they are weighted.
  leastSquare = roundedUp(std::max(ratio->least, squares * 0x1p-118) * (1 + 0x1p-9));
  mostSquare = float(ratio->mostSquare * (1 - 0x1p-9));
  leastShare = roundedUp(ratio->leastShare * (1 + 0x1p-9));
  // Errors of a row's length, of what the shift adds to a product, and of what tiles flush to 0.
  const double length = (form.dims + 32) * 0x1p-24 + 0x1p-20,
               flushed = (factors + 2 * form.dims + 128) * 0x1p-124 / std::sqrt(ratio->least);
  // Errors of a mean, and of what the shift adds where a row's length is a share of it.
  const double ofMeans = ratio->means ? (form.dims + 32) * 0x1p-46 : 0;
  const double error = ratio->error + ratio->most * length + std::sqrt(ofQuery * ofRow) * 0x1p-38 +
                       ofMeans + flushed + 0x1p-80;
  ratioError = roundedUp(error * kMoreThanLost);
  return ratioError <= 1 ? "" : "its coefficients or the rows' mean are too large for a bound";
}

} // namespace annudf::runtime::cpu
