//===- BoundForm.cpp - A metric's formula with captures and a shift -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Real numbers are held as a double and how far from it they may be. What a form says comes from a
// file, so nothing of it is taken to be well-formed.
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/BoundForm.h"

#include "../../kernels/Orders.h"
#include "captures/Values.h"
#include "vectors/Npy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace annudf::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below it the rounding error of a product or quotient may not be a double itself.
constexpr double kSmallestExact = 0x1p-960;
/// At least half the last place of any double below kSmallestExact.
constexpr double kSmallestError = 0x1p-1010;

/// Not negative, rounded up at each step; 0 only where it is 0.
struct Upper {
  double v = 0;
  friend Upper operator+(Upper a, Upper b) {
    if (a.v == 0 || b.v == 0)
      return {a.v + b.v};
    return {std::nextafter(a.v + b.v, kInfinity)};
  }
  friend Upper operator*(Upper a, Upper b) {
    if (a.v == 0 || b.v == 0)
      return {0};
    return {std::nextafter(a.v * b.v, kInfinity)};
  }
  friend Upper operator/(Upper a, Upper b) {
    if (a.v == 0)
      return {0};
    return {std::nextafter(a.v / b.v, kInfinity)};
  }
  Upper &operator+=(Upper b) { return *this = *this + b; }
};

/// A real number at most `e` from v; neither is finite where nothing is known. What is exact stays
/// exact: the coefficients that vanish for a function of x - y vanish here.
struct Real {
  double v = 0;
  Upper e;

  friend Real operator-(Real a) { return {-a.v, a.e}; }
  friend Real operator+(Real a, Real b) {
    const double sum = a.v + b.v, part = sum - a.v;
    const double lost = (a.v - (sum - part)) + (b.v - part); // Exact (Knuth).
    return {sum, a.e + b.e + Upper{std::abs(lost)}};
  }
  friend Real operator*(Real a, Real b) {
    const double product = a.v * b.v;
    double lost = std::abs(std::fma(a.v, b.v, -product)); // Exact, but for underflow.
    if (a.v != 0 && b.v != 0 && std::abs(product) < kSmallestExact)
      lost = kSmallestError;
    const Upper x{std::abs(a.v)}, y{std::abs(b.v)};
    return {product, Upper{lost} + x * b.e + y * a.e + a.e * b.e};
  }
  friend Real operator/(Real a, Real b) {
    const double least = std::abs(b.v) - b.e.v;
    const Upper divisor{b.e.v == 0 ? std::abs(b.v) : std::nextafter(least, 0.0)};
    if (!(divisor.v > 0))
      return {kInfinity, {kInfinity}};
    const double quotient = a.v / b.v;
    Upper rest{std::abs(std::fma(-quotient, b.v, a.v))}; // The same.
    if (a.v != 0 && (std::abs(quotient) < kSmallestExact || std::abs(a.v) < kSmallestExact))
      rest = Upper{std::abs(b.v)} *
             (Upper{std::abs(quotient)} * Upper{0x1p-52} + Upper{kSmallestError});
    return {quotient, (rest + a.e + Upper{std::abs(quotient)} * b.e) / divisor};
  }
  Real magnitude() const { return {std::abs(v), e}; }
  bool isFinite() const { return std::isfinite(v) && std::isfinite(e.v); }
  /// At least its absolute value.
  Upper most() const { return Upper{std::abs(v)} + e; }
};

/// Why a form cannot be bound.
struct CannotBind {
  std::string why;
};

[[noreturn]] void refuse(std::string why) { throw CannotBind{std::move(why)}; }

/// An entry of a capture, for any dimension.
struct Source {
  const std::byte *values = nullptr;
  Load load = nullptr;
  int64_t size = 0, first = 0, step = 0; ///< In bytes; entries.

  Real at(int32_t dim, const std::string &capture) const {
    const Value value = load(values + size_t(size * (first + step * dim)));
    const double real = value.asReal();
    if (!std::isfinite(real))
      refuse("an entry of capture '" + capture + "' is not finite");
    Upper lost;
    if (value.isInteger)
      lost.v = std::abs(static_cast<double>(value.integer - static_cast<Integer>(real)));
    return {real, lost};
  }
};

Source sourceOf(const Coefficient &node, const BoundCaptures &captures, int32_t dims) {
  const std::vector<CaptureInfo> &declared = captures.declared();
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const CaptureInfo &c) { return c.name == node.capture; });
  const std::string who = "capture '" + node.capture + "'";
  if (found == declared.end())
    refuse("it reads " + who + ", which the metric does not have");
  const auto number = static_cast<size_t>(found - declared.begin());
  if (captures.space(number) != MemorySpace::Host)
    refuse(who + " is in the memory of a device");
  const std::string dtype = dtypeOf(found->element);
  const std::vector<int64_t> &shape = captures.shape(number);
  if (shape.size() != node.indices.size())
    refuse("it reads " + who + " with " + std::to_string(node.indices.size()) +
           " indices, it has " + std::to_string(shape.size()) + " extents");
  Source source{captures.bytes(number).data(), loadOf(dtype), dtypeSize(dtype)};
  for (size_t i = 0; i < shape.size(); ++i) {
    const EntryIndex &index = node.indices[i];
    source.first *= shape[i], source.step *= shape[i];
    if (index.kind == EntryIndex::Kind::Query)
      refuse(who + " has entries of its own for each query");
    const bool isDim = index.kind == EntryIndex::Kind::Dim;
    const int64_t last = isDim ? dims - 1 : index.number;
    if (last < 0 || last >= shape[i])
      refuse("it reads entry " + std::to_string(last) + " of " + who + ", which has " +
             std::to_string(shape[i]));
    (isDim ? source.step : source.first) += isDim ? 1 : index.number;
  }
  return source;
}

/// The nodes of a form, evaluated for one dimension after another.
class Nodes {
public:
  Nodes(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims)
      : nodes_(form.nodes), sources_(nodes_.size()), values_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Coefficient &node = nodes_[i];
      if (node.kind == Coefficient::Kind::Entry)
        sources_[i] = sourceOf(node, captures, dims);
      else if (node.kind != Coefficient::Kind::Number && (node.a >= i || node.b >= i))
        refuse("node " + std::to_string(i) + " of its form is not made of nodes before it");
    }
    for (const Quadratic *poly : {&form.exact, &form.size, &form.small, &form.largest})
      for (uint32_t node : poly->of)
        if (node >= nodes_.size())
          refuse("its form has no node " + std::to_string(node));
  }

  void evaluate(int32_t dim) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      values_[i] = valueOf(i, dim);
  }
  Real operator[](uint32_t node) const { return values_[node]; }

private:
  Real valueOf(size_t i, int32_t dim) const {
    const Coefficient &node = nodes_[i];
    switch (node.kind) {
    case Coefficient::Kind::Number:
      return {node.number, {}};
    case Coefficient::Kind::Entry:
      return sources_[i].at(dim, node.capture);
    case Coefficient::Kind::Negated:
      return -values_[node.a];
    case Coefficient::Kind::Sum:
      return values_[node.a] + values_[node.b];
    case Coefficient::Kind::Product:
      return values_[node.a] * values_[node.b];
    case Coefficient::Kind::Quotient:
      return values_[node.a] / values_[node.b];
    case Coefficient::Kind::Absolute:
      return values_[node.a].magnitude();
    }
    refuse("node " + std::to_string(i) +
           " of its form is of a kind that this annudf does not know");
  }

  const std::vector<Coefficient> &nodes_;
  std::vector<Source> sources_;
  std::vector<Real> values_;
};

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
    // (1 + u)^n <= e^(n u), and e^t <= 1 + t + t² up to t = 1.7.
    const Upper t = Upper{double(n.f16)} * Upper{0x1p-11} + Upper{double(n.f32)} * Upper{0x1p-24} +
                    Upper{double(n.f64)} * Upper{0x1p-53} +
                    Upper{double(bound_.dims) * double(form_.accumulations) + 2} * Upper{0x1p-24};
    if (t.v > 0.5)
      refuse("so many roundings, over " + std::to_string(bound_.dims) +
             " dims, leave nothing of a distance");
    rounding_ = t + t * t;
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
