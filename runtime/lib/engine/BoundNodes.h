//===- BoundNodes.h - Coefficients of a form as numbers -----------*- C++ -*-===//
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

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H
#define ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H

#include "annudf/Artifact/Form.h"
#include "annudf/runtime/captures/Captures.h"

#include "captures/Values.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime::bounds {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below it the rounding error of a product or quotient may not be a double itself.
inline constexpr double kSmallestExact = 0x1p-960;
/// At least half the last place of any double below kSmallestExact.
inline constexpr double kSmallestError = 0x1p-1010;

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

[[noreturn]] inline void refuse(std::string why) { throw CannotBind{std::move(why)}; }

/// An entry of a capture, for any dimension.
struct Source {
  const std::byte *values = nullptr;
  Load load = nullptr;
  int64_t size = 0, first = 0, step = 0; ///< In bytes; entries.

  Real at(int32_t dim, const std::string &capture) const;
};

/// The nodes of a form, evaluated for one dimension after another.
class Nodes {
public:
  Nodes(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims);

  void evaluate(int32_t dim) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      values_[i] = valueOf(i, dim);
  }
  Real operator[](uint32_t node) const { return values_[node]; }

private:
  Real valueOf(size_t i, int32_t dim) const;

  const std::vector<Coefficient> &nodes_;
  std::vector<Source> sources_;
  std::vector<Real> values_;
};

/// E - 1 of Form.h, for `roundings` and `accumulations` of each dimension.
Upper growthOf(const Roundings &roundings, uint32_t accumulations, int32_t dims);

} // namespace annudf::runtime::bounds

#endif // ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H
