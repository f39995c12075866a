//===- Polynomials.cpp - Values that are polynomials of x and y -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md has the induction of which each function here is a step.
//
//===----------------------------------------------------------------------===//

#include "Terms.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace annudf;

/// Products of captures' entries square by themselves, so their roundings need a limit.
static constexpr uint32_t kMostRoundings = QuadraticForm::kMostRoundings;

static std::string quoted(const Term &term) {
  return "'" + term.at->getName().getStringRef().str() + "'";
}

//===----------------------------------------------------------------------===//
// Arithmetic of forms
//===----------------------------------------------------------------------===//

static constexpr std::array<std::pair<int, int>, 6> kPowers = {
    {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}};

static Quadratic add(Coefficients &c, const Quadratic &a, const Quadratic &b) {
  Quadratic sum;
  for (size_t i = 0; i < sum.of.size(); ++i)
    sum.of[i] = c.sum(a.of[i], b.of[i]);
  return sum;
}

static Quadratic negate(Coefficients &c, Quadratic a) {
  for (uint32_t &node : a.of)
    node = c.negated(node);
  return a;
}

/// Empty where a power above 2 arises.
static std::optional<Quadratic> multiply(Coefficients &c, const Quadratic &a, const Quadratic &b) {
  Quadratic product;
  for (size_t i = 0; i < a.of.size(); ++i)
    for (size_t j = 0; j < b.of.size(); ++j) {
      if (a.of[i] == Coefficients::kZero || b.of[j] == Coefficients::kZero)
        continue;
      const std::pair power(kPowers[i].first + kPowers[j].first,
                            kPowers[i].second + kPowers[j].second);
      const auto place = std::find(kPowers.begin(), kPowers.end(), power);
      if (place == kPowers.end())
        return std::nullopt;
      uint32_t &node = product.of[place - kPowers.begin()];
      node = c.sum(node, c.product(a.of[i], b.of[j]));
    }
  return product;
}

static void round(PolynomialForm &form, Type type) {
  form.roundings.f16 += type.isF16();
  form.roundings.f32 += type.isF32();
  form.roundings.f64 += type.isF64();
}

/// A rounding that may fall below the normal range, where it is not relative: sums never do.
static void roundSmall(Coefficients &c, PolynomialForm &form, Type type) {
  round(form, type);
  form.small.of[Quadratic::One] = c.sum(form.small.of[Quadratic::One], Coefficients::kOne);
  // Half of the smallest number; of f64 all of it, as no double is its half.
  const double eta = type.isF16() ? 0x1p-25 : type.isF32() ? 0x1p-150 : 0x1p-1074;
  form.eta = std::max(form.eta, eta);
}

static Roundings larger(const Roundings &a, const Roundings &b) {
  return {std::max(a.f16, b.f16), std::max(a.f32, b.f32), std::max(a.f64, b.f64)};
}

PolynomialForm Polynomials::constant(uint32_t exact, uint32_t size) {
  PolynomialForm form;
  form.exact.of[Quadratic::One] = exact;
  form.size.of[Quadratic::One] = size;
  return form;
}

/// In real numbers: both roundings stand side by side, so the most of them count.
PolynomialForm Polynomials::sum(const PolynomialForm &a, const PolynomialForm &b, bool minus) {
  Coefficients &c = coefficients;
  PolynomialForm form;
  form.exact = add(c, a.exact, minus ? negate(c, b.exact) : b.exact);
  form.size = add(c, a.size, b.size);
  form.small = add(c, a.small, b.small);
  form.roundings = larger(a.roundings, b.roundings);
  form.eta = std::max(a.eta, b.eta);
  return form;
}

/// In real numbers: a factor's roundings multiply those of the other.
std::optional<PolynomialForm> Polynomials::product(const PolynomialForm &a,
                                                   const PolynomialForm &b) {
  Coefficients &c = coefficients;
  PolynomialForm form;
  const auto exact = multiply(c, a.exact, b.exact), size = multiply(c, a.size, b.size),
             left = multiply(c, a.small, b.size), right = multiply(c, b.small, a.size),
             both = multiply(c, a.small, b.small);
  if (!exact || !size || !left || !right || !both)
    return std::nullopt;
  form.eta = std::max(a.eta, b.eta);
  const auto scaled = multiply(c, *both, constant(c.number(form.eta), 0).exact);
  form.exact = *exact;
  form.size = *size;
  form.small = add(c, add(c, *left, *right), *scaled);
  form.roundings = {a.roundings.f16 + b.roundings.f16, a.roundings.f32 + b.roundings.f32,
                    a.roundings.f64 + b.roundings.f64};
  return form;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

Polynomials::Polynomials(const Terms &terms, Coefficients &coefficients, Of variable)
    : terms(terms), coefficients(coefficients), variable(variable) {
  for (const Term &term : terms.nodes()) {
    Fact fact;
    if (coefficients.isFull())
      fact.lost = {term.at, "its coefficients take more than " +
                                std::to_string(Coefficients::kMost) + " steps"};
    else
      fact = of(term);
    if (fact.form) {
      const Roundings &all = fact.form->roundings;
      if (all.f16 + all.f32 + all.f64 > kMostRoundings)
        fact = {std::nullopt,
                {term.at, "it is rounded more than " + std::to_string(kMostRoundings) + " times"}};
    }
    facts.push_back(std::move(fact));
  }
}

Polynomials::Fact Polynomials::entry(const Term &term) {
  const TermEntry &entry = terms.entryOf(term);
  const uint32_t node = coefficients.entry(entry.capture, entry.indices);
  return {constant(node, coefficients.absolute(node)), {}};
}

/// An integer is known to be that number only where a capture holds it.
Polynomials::Fact Polynomials::converted(const Term &term) {
  const Term &from = terms.nodes()[term.of[0]];
  if (from.kind != TermKind::Entry)
    return {std::nullopt,
            {term.at, quoted(term) + " converts an integer that is not an entry of a capture"}};
  if (terms.entryOf(from).isUnsigned != (term.kind == TermKind::FromUnsigned))
    return {std::nullopt,
            {term.at, quoted(term) + " reads the integers of capture \"" +
                          terms.entryOf(from).capture + "\" with the wrong signedness"}};
  Fact fact = entry(from);
  const unsigned mantissa = cast<FloatType>(term.type).getFPMantissaWidth();
  if (from.type.getIntOrFloatBitWidth() > mantissa)
    round(*fact.form, term.type);
  return fact;
}

/// And what fma adds.
Polynomials::Fact Polynomials::multiplied(const Term &term) {
  auto both = product(*facts[term.of[0]].form, *facts[term.of[1]].form);
  if (!both)
    return {std::nullopt, {term.at, quoted(term) + " gives a power of x and y above 2"}};
  if (term.kind == TermKind::Fma)
    both = sum(*both, *facts[term.of[2]].form);
  if (term.kind != TermKind::ExactProduct)
    roundSmall(coefficients, *both, term.type);
  return {both, {}};
}

/// By a constant or an entry as it is: a divisor that is rounded has no bound where it is near 0.
Polynomials::Fact Polynomials::quotient(const Term &term) {
  uint32_t divisor = term.of[1];
  while (terms.nodes()[divisor].kind == TermKind::Extended ||
         terms.nodes()[divisor].kind == TermKind::Negated)
    divisor = terms.nodes()[divisor].of[0];
  const Term &by = terms.nodes()[divisor];
  if (by.kind != TermKind::Entry && (by.kind != TermKind::Constant || by.number == 0))
    return {
        std::nullopt,
        {term.at, quoted(term) +
                      " divides by a value that is neither a constant nor an entry of a capture"}};
  Coefficients &c = coefficients;
  const uint32_t node = facts[term.of[1]].form->exact.of[Quadratic::One];
  PolynomialForm form = *facts[term.of[0]].form;
  for (auto [polynomial, factor] :
       {std::pair(&form.exact, node), std::pair(&form.size, c.absolute(node)),
        std::pair(&form.small, c.absolute(node))})
    for (uint32_t &one : polynomial->of)
      one = one == Coefficients::kZero ? one : c.quotient(one, factor);
  roundSmall(c, form, term.type);
  return {form, {}};
}

/// Sides that are the same polynomial, however they compute it; one that is no number is not
/// spoken of.
Polynomials::Fact Polynomials::chosen(const Term &term) {
  for (auto [side, other] : {std::pair(term.of[1], term.of[2]), std::pair(term.of[2], term.of[1])})
    if (const Term &node = terms.nodes()[side];
        node.kind == TermKind::Constant && !std::isfinite(node.number))
      return facts[other];
  for (size_t side : {1, 2})
    if (!facts[term.of[side]].form)
      return {std::nullopt, facts[term.of[side]].lost};
  const PolynomialForm &yes = *facts[term.of[1]].form, &no = *facts[term.of[2]].form;
  if (yes.exact != no.exact)
    return {std::nullopt,
            {term.at, "its two sides are " + polynomialText(coefficients.nodes(), yes.exact) +
                          " and " + polynomialText(coefficients.nodes(), no.exact)}};
  Coefficients &c = coefficients;
  PolynomialForm form = yes;
  if (form.size != no.size)
    form.size = add(c, form.size, no.size);
  if (form.small != no.small)
    form.small = add(c, form.small, no.small);
  form.roundings = larger(yes.roundings, no.roundings);
  form.eta = std::max(yes.eta, no.eta);
  return {form, {}};
}

bool Polynomials::isDifference(const Term &term) const {
  if (variable != Of::Difference || term.kind != TermKind::Difference)
    return false;
  const auto kindOf = [&](uint32_t node) {
    while (terms.nodes()[node].kind == TermKind::Extended)
      node = terms.nodes()[node].of[0];
    return terms.nodes()[node].kind;
  };
  const TermKind a = kindOf(term.of[0]), b = kindOf(term.of[1]);
  return (a == TermKind::X && b == TermKind::Y) || (a == TermKind::Y && b == TermKind::X);
}

/// Rounded once; below the normal range it is exact.
Polynomials::Fact Polynomials::difference(const Term &term) {
  uint32_t first = term.of[0];
  while (terms.nodes()[first].kind == TermKind::Extended)
    first = terms.nodes()[first].of[0];
  Coefficients &c = coefficients;
  PolynomialForm own;
  own.exact.of[Quadratic::X] =
      terms.nodes()[first].kind == TermKind::X ? Coefficients::kOne : c.number(-1);
  own.size.of[Quadratic::X] = Coefficients::kOne;
  round(own, term.type);
  return {own, {}};
}

Polynomials::Fact Polynomials::of(const Term &term) {
  Coefficients &c = coefficients;
  if (isDifference(term))
    return difference(term);
  // What decides between sides that agree may be anything.
  if (term.kind != TermKind::FromSigned && term.kind != TermKind::FromUnsigned &&
      term.kind != TermKind::Chosen)
    for (uint32_t operand : term.of)
      if (!facts[operand].form)
        return {std::nullopt, facts[operand].lost};
  auto form = [&](size_t i) -> const PolynomialForm & { return *facts[term.of[i]].form; };
  auto no = [&](const std::string &why) -> Fact { return {std::nullopt, {term.at, why}}; };
  switch (term.kind) {
  case TermKind::Unknown:
    return no(term.why);
  case TermKind::X:
  case TermKind::Y: {
    if (variable == Of::Difference)
      return no("x and y are used otherwise than as x - y");
    PolynomialForm own;
    const auto power = term.kind == TermKind::X ? Quadratic::X : Quadratic::Y;
    own.exact.of[power] = own.size.of[power] = Coefficients::kOne;
    return {own, {}};
  }
  case TermKind::Constant:
    if (!std::isfinite(term.number))
      return no("a constant is not finite");
    return {constant(c.number(term.number), c.number(std::abs(term.number))), {}};
  case TermKind::Entry:
    if (!isa<FloatType>(term.type))
      return no("an integer of a capture is computed with");
    return entry(term);
  case TermKind::Negated: {
    PolynomialForm negative = form(0);
    negative.exact = negate(c, negative.exact);
    return {negative, {}};
  }
  case TermKind::Sum:
  case TermKind::Difference: {
    PolynomialForm both = sum(form(0), form(1), term.kind == TermKind::Difference);
    round(both, term.type);
    return {both, {}};
  }
  case TermKind::ExactProduct:
  case TermKind::Product:
  case TermKind::Fma:
    return multiplied(term);
  case TermKind::Quotient:
    return quotient(term);
  case TermKind::Absolute:
  case TermKind::Magnitude: {
    if (term.isOfCoordinates)
      return no(quoted(term) + " of x and y is no polynomial");
    PolynomialForm size = form(0); // | |a'| - |a| | <= |a' - a|
    size.exact.of[Quadratic::One] = c.absolute(size.exact.of[Quadratic::One]);
    return {size, {}};
  }
  case TermKind::Extended:
    return {form(0), {}};
  case TermKind::Truncated: {
    PolynomialForm rounded = form(0);
    roundSmall(c, rounded, term.type);
    return {rounded, {}};
  }
  case TermKind::FromSigned:
  case TermKind::FromUnsigned:
    return converted(term);
  case TermKind::Chosen:
    return chosen(term);
  case TermKind::Root:
  case TermKind::Exponential:
  case TermKind::Maximum:
  case TermKind::Minimum:
  case TermKind::MaxNum:
  case TermKind::MinNum:
  case TermKind::Compared:
    return no(quoted(term) + " is no polynomial");
  }
  llvm_unreachable("unknown kind of a term");
}

std::optional<PolynomialForm> Polynomials::sumOf(ArrayRef<uint32_t> nodes) {
  PolynomialForm total;
  for (uint32_t node : nodes) {
    if (!facts[node].form)
      return std::nullopt;
    total = sum(total, *facts[node].form);
  }
  return total;
}

Lost Polynomials::lost(ArrayRef<uint32_t> nodes) const {
  for (uint32_t node : nodes)
    if (!facts[node].form)
      return facts[node].lost;
  return {};
}
