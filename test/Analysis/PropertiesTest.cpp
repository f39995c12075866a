//===- PropertiesTest.cpp - Proved claims hold for random formulas --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search for counter-examples: random updates are analysed, and computed by RandomFormula, which
// knows nothing of the analysis, for random and adversarial coordinates and captures. 2,000 of
// them; ANNUDF_FORMULAS=20000 in the long run. test/Analysis/weakened.py weakens each rule of the
// analysis in turn and sees this test, or test/lit/Transforms/infer-properties*.mlir, fail.
//
//===----------------------------------------------------------------------===//

#include "ClaimValues.h"
#include "RandomMetrics.h"

#include "annudf/Analysis/Properties.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

using namespace annudf;
using namespace annudf::test;

namespace {

using Step = RandomFormula::Step;

bool isSame(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// How often a claim was made, and checked where it says something.
struct Counts {
  int made = 0, checked = 0;
};

class Search : public RandomMetrics {
protected:
  Counts polynomial, symmetric, onlyRounded, difference, sign, monotone, conditional;

  void checkPolynomial(const FieldProperties &field, const Coefficients &coefficients,
                       RandomFormula &formula, const Inputs &in, bool fused) {
    if (!field.polynomial)
      return;
    formula.compute(in, fused);
    Quad computed = 0;
    for (const Step &step : formula.steps())
      computed += formula.term(step);
    if (!isFinite(computed))
      return;
    const std::vector<Quad> c = evaluate(coefficients, in);
    const PolynomialForm &form = *field.polynomial;
    const Quad exact = at(form.exact, c, in.x, in.y);
    const Quad x = absolute(in.x), y = absolute(in.y), size = at(form.size, c, x, y);
    ++polynomial.checked;
    EXPECT_TRUE(isWithinBound(computed, form, c, in))
        << spell(field, coefficients) << " at " << in.x << ", " << in.y << ", fused " << fused;
    onlyRounded.checked += field.symmetric == Claim::Real || field.difference == Claim::Real;
    if (field.symmetric == Claim::Real) {
      const Quad other = at(form.exact, c, in.y, in.x);
      const Quad turned = at(form.size, c, y, x);
      EXPECT_LE(static_cast<double>(absolute(other - exact)),
                static_cast<double>((size + turned) * static_cast<Quad>(0x1p-90)));
    }
    if (field.difference == Claim::Real && std::abs(in.x) < 1e6 && std::abs(in.y) < 1e6) {
      const Quad other = at(form.exact, c, in.x + Quad(8), in.y + Quad(8));
      const Quad moved = at(form.size, c, x + 8, y + 8);
      EXPECT_LE(static_cast<double>(absolute(other - exact)),
                static_cast<double>((size + moved) * static_cast<Quad>(0x1p-90)));
    }
  }

  void checkExchange(const FieldProperties &field, RandomFormula &formula, Inputs in, float acc,
                     bool fused) {
    if (field.symmetric != Claim::Exact)
      return;
    formula.compute(in, fused);
    const float one = formula.update(acc, fused);
    std::swap(in.x, in.y);
    formula.compute(in, fused);
    ++symmetric.checked;
    EXPECT_TRUE(isSame(one, formula.update(acc, fused)))
        << one << " and " << formula.update(acc, fused) << " at " << in.y << ", " << in.x
        << ", fused " << fused;
  }

  /// Pairs with one rounded difference.
  void checkDifference(const FieldProperties &field, RandomFormula &formula, Inputs in, float acc,
                       bool fused, RandomValues &values) {
    if (field.difference != Claim::Exact)
      return;
    formula.compute(in, fused);
    const float one = formula.update(acc, fused);
    const float before = in.x - in.y;
    const double wideBefore = static_cast<double>(in.x) - in.y;
    const auto moved = static_cast<float>(values.random(9) - 4);
    if (in.x == in.y && values.random(3)) // Either 0.
      in.x = values.random(2) ? 0.0f : -0.0f, in.y = values.random(2) ? 0.0f : -0.0f;
    else
      in.x += moved, in.y += moved;
    // The difference of widened coordinates is another number.
    const double wide = static_cast<double>(in.x) - in.y;
    if (in.x - in.y != before || (formula.extendsCoordinates() && wide != wideBefore))
      return;
    formula.compute(in, fused);
    ++difference.checked;
    EXPECT_TRUE(isSame(one, formula.update(acc, fused))) << in.x << ", " << in.y;
  }

  void checkSign(const FieldProperties &field, const RandomFormula &formula, const Inputs &in) {
    if (field.sign == Sign::Unknown || !holds(field.signIf, in))
      return;
    ++sign.checked;
    conditional.checked += !field.signIf.empty();
    for (const Step &step : formula.steps()) {
      const Quad term = formula.term(step);
      EXPECT_FALSE(field.sign == Sign::NonNegative ? term < 0 : term > 0)
          << static_cast<double>(term) << " at " << in.x << ", " << in.y;
    }
  }

  void checkMonotone(const FieldProperties &field, const RandomFormula &formula, const Inputs &in,
                     float acc, bool fused) {
    if (field.monotone == Monotone::Unknown || !holds(field.monotoneIf, in))
      return;
    // What is not proved to begin as a number may be NaN, and what began as one never is.
    const bool forgets = formula.steps()[0].join == RandomFormula::Join::MaxNum ||
                         formula.steps()[0].join == RandomFormula::Join::MinNum;
    if (forgets && !formula.beginsAsNan() && std::isnan(acc))
      return;
    ++monotone.checked;
    const float next = formula.update(acc, fused);
    const bool isLast = std::isnan(next);
    const bool holdsHere =
        isLast ||
        (!std::isnan(acc) && (field.monotone == Monotone::Grows ? next >= acc : next <= acc));
    EXPECT_TRUE(holdsHere) << acc << " becomes " << next << " at " << in.x << ", " << in.y;
  }

  void check(const FieldProperties &field, const Coefficients &coefficients, RandomFormula &formula,
             uint32_t seed) {
    polynomial.made += field.polynomial.has_value();
    symmetric.made += field.symmetric == Claim::Exact;
    onlyRounded.made += field.symmetric == Claim::Real || field.difference == Claim::Real;
    difference.made += field.difference == Claim::Exact;
    sign.made += field.sign != Sign::Unknown;
    monotone.made += field.monotone != Monotone::Unknown;
    conditional.made += !field.signIf.empty();
    RandomValues values(seed);
    for (int i = 0; i < 48; ++i) {
      const bool fused = i % 2;
      const Inputs in = values.inputs();
      static constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const float acc = i == 5   ? kInfinity
                        : i == 6 ? -kInfinity
                        : i == 7 ? std::numeric_limits<float>::quiet_NaN()
                        : i == 8 ? -0.0f
                                 : values.number();
      formula.compute(in, fused);
      checkSign(field, formula, in);
      checkMonotone(field, formula, in, acc, fused);
      checkPolynomial(field, coefficients, formula, in, fused);
      checkExchange(field, formula, in, acc, fused);
      checkDifference(field, formula, in, acc, fused, values);
    }
  }
};

TEST_F(Search, FindsNoCounterExample) {
  const int count = countOr(20000);
  forEach(count, [&](ir::MetricOp metric, RandomFormula &formula, uint32_t seed) {
    const MetricProperties properties = inferProperties(metric);
    ASSERT_EQ(properties.fields.size(), 1u);
    check(properties.fields[0], properties.coefficients, formula, seed);
    EXPECT_FALSE(HasFailure()) << spell(properties.fields[0], properties.coefficients);
  });
  for (auto [name, counts, most] :
       {std::tuple("polynomial", &polynomial, 12), std::tuple("symmetric", &symmetric, 12),
        std::tuple("difference", &difference, 12), std::tuple("sign", &sign, 6),
        std::tuple("monotone", &monotone, 6), std::tuple("real", &onlyRounded, 200),
        std::tuple("conditional", &conditional, 40)}) {
    RecordProperty(name, counts->made);
    std::printf("%s: %d of %d, checked %d times\n", name, counts->made, count, counts->checked);
    EXPECT_GT(counts->made * most, count) << name;
  }
}

/// Simplified or not, an expression has its value.
TEST(Coefficients, HaveTheValuesOfWhatTheyAreMadeOf) {
  struct Known {
    uint32_t node;
    Quad value, size;
  };
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 generator(seed);
    const auto random = [&](size_t below) { return generator() % below; };
    const Inputs in{0, 0, 0.7, -1.3, 3.1, -5, 200};
    Coefficients c;
    std::vector<Known> all;
    for (double number : {0.0, 1.0, -1.0, 2.0, 0.1, -0.3, 1e16, 3.0})
      all.push_back({c.number(number), number, std::abs(number)});
    for (char name : std::string("wqsnu"))
      all.push_back({c.entry(std::string(1, name), {}), in.of(name), std::abs(in.of(name))});
    for (int i = 0; i < 120; ++i) {
      const Known a = all[random(all.size())], b = all[random(3) ? random(13) : random(all.size())];
      Known made{};
      switch (random(5)) {
      case 0:
        made = {c.negated(a.node), -a.value, a.size};
        break;
      case 1:
        made = {c.sum(a.node, b.node), a.value + b.value, a.size + b.size};
        break;
      case 2:
        made = {c.product(a.node, b.node), a.value * b.value, a.size * b.size};
        break;
      case 3:
        if (b.node == Coefficients::kZero || b.size > absolute(b.value))
          continue;
        made = {c.quotient(a.node, b.node), a.value / b.value, a.size / b.size};
        break;
      default:
        made = {c.absolute(a.node), absolute(a.value), a.size};
      }
      if (made.size < static_cast<Quad>(1e100)) // Twelve factors of 1e16 say nothing more.
        all.push_back(made);
    }
    const std::vector<Quad> values = evaluate(c, in);
    for (const Known &one : all)
      ASSERT_LE(static_cast<double>(absolute(values[one.node] - one.value)),
                static_cast<double>(one.size * static_cast<Quad>(0x1p-90)))
          << "seed " << seed << ": " << coefficientText(c.nodes(), one.node);
  }
}

} // namespace
