//===- ClaimValues.h - What claims say of numbers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ANALYSIS_CLAIMVALUES_H
#define ANNUDF_TEST_ANALYSIS_CLAIMVALUES_H

#include "RandomFormula.h"

#include "annudf/Analysis/Properties.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

namespace annudf::test {

inline bool isFinite(Quad value) { return value - value == 0; }
inline Quad absolute(Quad value) { return value < 0 ? -value : value; }

/// The coefficients for one set of values of the captures.
inline std::vector<Quad> evaluate(const std::vector<Coefficient> &nodes, const Inputs &inputs) {
  std::vector<Quad> values;
  for (const Coefficient &node : nodes) {
    const auto at = [&](uint32_t operand) { return values[operand]; };
    switch (node.kind) {
    case Coefficient::Kind::Number:
      values.push_back(node.number);
      break;
    case Coefficient::Kind::Entry:
      values.push_back(inputs.of(node.capture[0]));
      break;
    case Coefficient::Kind::Negated:
      values.push_back(-at(node.a));
      break;
    case Coefficient::Kind::Sum:
      values.push_back(at(node.a) + at(node.b));
      break;
    case Coefficient::Kind::Product:
      values.push_back(at(node.a) * at(node.b));
      break;
    case Coefficient::Kind::Quotient:
      values.push_back(at(node.a) / at(node.b));
      break;
    case Coefficient::Kind::Absolute:
      values.push_back(absolute(at(node.a)));
      break;
    }
  }
  return values;
}

inline std::vector<Quad> evaluate(const Coefficients &coefficients, const Inputs &inputs) {
  return evaluate(coefficients.nodes(), inputs);
}

inline Quad at(const Quadratic &q, const std::vector<Quad> &c, Quad x, Quad y) {
  const Quad powers[] = {x * x, x * y, y * y, x, y, 1};
  Quad sum = 0;
  for (size_t i = 0; i < 6; ++i)
    if (q.of[i] != Coefficients::kZero)
      sum += c[q.of[i]] * powers[i];
  return sum;
}

inline Quad growth(const Roundings &roundings) {
  Quad all = 1;
  for (auto [count, unit] : {std::pair(roundings.f16, 0x1p-11), std::pair(roundings.f32, 0x1p-24),
                             std::pair(roundings.f64, 0x1p-53)})
    for (uint32_t i = 0; i < count; ++i)
      all *= 1 + static_cast<Quad>(unit);
  return all;
}

/// The claim of docs/spec/numerics.md of a finite value.
inline bool isWithinBound(Quad computed, const PolynomialForm &form, const std::vector<Quad> &c,
                          const Inputs &in, int moreSmall = 0) {
  const Quad exact = at(form.exact, c, in.x, in.y);
  const Quad x = absolute(in.x), y = absolute(in.y), size = at(form.size, c, x, y);
  const Quad all = growth(form.roundings), small = at(form.small, c, x, y) + moreSmall;
  // The last summand is for what Quad itself rounds.
  return isFinite(exact) && absolute(computed - exact) <= (all - 1) * size +
                                                              all * form.eta * small +
                                                              size * static_cast<Quad>(0x1p-100);
}

class RandomValues {
public:
  explicit RandomValues(uint32_t seed) : generator(seed) {}

  /// Any finite number of f32, of a sign: those at which arithmetic is odd more often.
  float number(int sign = 0) {
    static constexpr float kOdd[] = {
        0.0f, 1.0f,       2.0f,  0x1p-149f,       0x1p-126f, 0x1.8p-75f, 1e-30f, 1e30f,
        1.5f, 16777216.f, 3e38f, 0x1.fffffep-80f, 0.1f,      1e10f,      255.0f, 0x1.000002p0f};
    float value;
    switch (allSmall ? 2 : random(6)) {
    case 0:
      value = kOdd[random(std::size(kOdd))];
      break;
    case 1:
      value = std::bit_cast<float>(static_cast<uint32_t>(generator()) & 0x7EFFFFFFu);
      break;
    case 2: // Where products are not normal.
      value = std::ldexp(1.0f + static_cast<float>(random(1 << 20)) / (1 << 20), -60 - random(30));
      break;
    default:
      value = static_cast<float>(random(1 << 24)) / static_cast<float>(1 << random(24));
    }
    return (sign == 0 ? random(2) : sign < 0) ? -value : value;
  }
  int random(int below) { return static_cast<int>(generator() % static_cast<uint32_t>(below)); }

  Inputs inputs() {
    Inputs in{};
    allSmall = random(6) == 0;
    in.x = number();
    in.y = random(6) == 0 ? in.x : random(6) == 0 ? std::nextafter(in.x, 1e38f) : number();
    // Each capture has one sign or any, zeros of both signs included.
    for (double *capture : {&in.w, &in.q, &in.s})
      *capture = random(8) == 0 ? (random(2) ? 0.0 : -0.0) : number(random(3) - 1);
    in.n = random(256) - 128;
    in.u = random(256);
    return in;
  }

private:
  std::mt19937 generator;
  bool allSmall = false; ///< So that what is lost below the normal range is all there is.
};

inline bool holds(const std::vector<Condition> &conditions, const Inputs &inputs) {
  for (const Condition &one : conditions) {
    const double value = inputs.of(one.capture[0]);
    if (one.kind == Condition::Kind::NonNegative   ? !(value >= 0)
        : one.kind == Condition::Kind::NonPositive ? !(value <= 0)
                                                   : !(value > 0))
      return false;
  }
  return true;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_ANALYSIS_CLAIMVALUES_H
