//===- Signs.cpp - Values that are never below 0 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Claims of what is computed, rounded and fused as it may be: rounding is monotone and keeps 0, so
// it never changes a sign. "Or NaN" is meant throughout.
//
//===----------------------------------------------------------------------===//

#include "Terms.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace annudf;

using Conditions = Signs::Conditions;
using Maybe = std::optional<Conditions>;

/// More than that nobody checks.
static constexpr size_t kMostConditions = 8;

static Maybe both(const Maybe &a, const Maybe &b) {
  if (!a || !b)
    return std::nullopt;
  Conditions all;
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(all));
  if (all.size() > kMostConditions)
    return std::nullopt;
  return all;
}

/// The one that asks for less.
static Maybe either(const Maybe &a, const Maybe &b) {
  if (!a || !b)
    return a ? a : b;
  return b->size() < a->size() ? b : a;
}

Signs::Signs(const Terms &terms) : terms(terms) {
  for (const Term &term : terms.nodes())
    facts.push_back(fact(term));
}

/// The first two operands.
Signs::Fact Signs::product(const Term &term) const {
  const Fact &a = facts[term.of[0]], &b = facts[term.of[1]];
  Fact out;
  if (term.of[0] == term.of[1]) {
    out.nonNegative = out.isPlus = Conditions();
    return out;
  }
  out.nonNegative = either(both(a.nonNegative, b.nonNegative), both(a.nonPositive, b.nonPositive));
  out.nonPositive = either(both(a.nonNegative, b.nonPositive), both(a.nonPositive, b.nonNegative));
  out.isPlus = both(a.isPlus, b.isPlus);
  // (a b) b has the sign of a, or it is 0 or NaN.
  for (size_t i : {0, 1}) {
    const Term &inner = terms.nodes()[term.of[i]];
    for (size_t j : {0, 1})
      if (inner.kind == TermKind::Product && inner.of[j] == term.of[1 - i]) {
        const Fact &rest = facts[inner.of[1 - j]];
        out.nonNegative = either(out.nonNegative, rest.nonNegative);
        out.nonPositive = either(out.nonPositive, rest.nonPositive);
        out.isPlus = either(out.isPlus, rest.isPlus);
      }
  }
  return out;
}

Signs::Fact Signs::leaf(const Term &term) const {
  Fact out;
  if (term.kind == TermKind::Entry) {
    // Integers too, as whatever converts them has to make sure of their sign.
    const std::string &name = terms.entryOf(term).capture;
    out.nonNegative = {{name, Condition::Kind::NonNegative}};
    out.nonPositive = {{name, Condition::Kind::NonPositive}};
    out.isPlus = {{name, Condition::Kind::Positive}};
    return out;
  }
  out.isNumber = !std::isnan(term.number);
  if (!(term.number < 0))
    out.nonNegative = Conditions();
  if (!(term.number > 0))
    out.nonPositive = Conditions();
  if (!(term.number < 0) && !std::signbit(term.number))
    out.isPlus = Conditions();
  return out;
}

/// Or least.
Signs::Fact Signs::largest(const Term &term) const {
  const auto of = [&](size_t i) -> const Fact & { return facts[term.of[i]]; };
  const bool isMax = term.kind == TermKind::Maximum || term.kind == TermKind::MaxNum;
  Fact out;
  out.nonNegative = both(of(0).nonNegative, of(1).nonNegative);
  out.nonPositive = both(of(0).nonPositive, of(1).nonPositive);
  // One operand alone says it; but of NaN and a number MaxNum and MinNum give the number, so it
  // must not be NaN.
  const bool forgetsNan = term.kind == TermKind::MaxNum || term.kind == TermKind::MinNum;
  Maybe &mine = isMax ? out.nonNegative : out.nonPositive;
  for (size_t i : {0, 1})
    if (!forgetsNan || of(i).isNumber)
      mine = either(mine, isMax ? of(i).nonNegative : of(i).nonPositive);
  return out;
}

/// A converted integer's sign.
Signs::Fact Signs::converted(const Term &term) const {
  Fact out;
  const Term &from = terms.nodes()[term.of[0]];
  if (term.kind == TermKind::FromUnsigned)
    out.nonNegative = out.isPlus = Conditions();
  else if (from.kind == TermKind::Entry && !terms.entryOf(from).isUnsigned)
    out = facts[term.of[0]];
  out.isNumber = true;
  return out;
}

Signs::Fact Signs::fact(const Term &term) const {
  Fact out;
  const auto of = [&](size_t i) -> const Fact & { return facts[term.of[i]]; };
  const auto add = [&](const Fact &a, const Fact &b) {
    out.nonNegative = both(a.nonNegative, b.nonNegative);
    out.nonPositive = both(a.nonPositive, b.nonPositive);
    // +0 and -0 are +0.
    out.isPlus = either(both(a.isPlus, b.nonNegative), both(a.nonNegative, b.isPlus));
  };
  switch (term.kind) {
  case TermKind::Unknown:
  case TermKind::X:
  case TermKind::Y:
  case TermKind::Compared:
    return out;
  case TermKind::Constant:
  case TermKind::Entry:
    return leaf(term);
  case TermKind::Negated:
    out.nonNegative = of(0).nonPositive;
    out.nonPositive = of(0).nonNegative;
    return out;
  case TermKind::Sum:
    add(of(0), of(1));
    return out;
  case TermKind::Difference: {
    Fact negated;
    negated.nonNegative = of(1).nonPositive;
    negated.nonPositive = of(1).nonNegative;
    add(of(0), negated);
    return out;
  }
  case TermKind::Product:
  case TermKind::ExactProduct:
    return product(term);
  case TermKind::Fma:
    add(product(term), of(2));
    return out;
  case TermKind::Quotient:
    // By -0 a positive number is -inf.
    out.nonNegative = both(of(0).nonNegative, of(1).isPlus);
    out.nonPositive = both(of(0).nonPositive, of(1).isPlus);
    out.isPlus = both(of(0).isPlus, of(1).isPlus);
    return out;
  case TermKind::Absolute:
    out.nonNegative = out.isPlus = Conditions();
    return out;
  case TermKind::Magnitude:
    out.nonNegative = Conditions();
    return out;
  case TermKind::Root: // The root of -0 is -0.
    out.nonNegative = Conditions();
    out.isPlus = of(0).isPlus;
    return out;
  case TermKind::Exponential:
    out.nonNegative = out.isPlus = Conditions();
    return out;
  case TermKind::Maximum:
  case TermKind::Minimum:
  case TermKind::MaxNum:
  case TermKind::MinNum:
    return largest(term);
  case TermKind::Extended:
  case TermKind::Truncated:
    out = of(0);
    return out;
  case TermKind::FromSigned:
  case TermKind::FromUnsigned:
    return converted(term);
  case TermKind::Chosen:
    out.nonNegative = both(of(1).nonNegative, of(2).nonNegative);
    out.nonPositive = both(of(1).nonPositive, of(2).nonPositive);
    out.isPlus = both(of(1).isPlus, of(2).isPlus);
    out.isNumber = of(1).isNumber && of(2).isNumber;
    return out;
  }
  llvm_unreachable("unknown kind of a term");
}

/// Down to the first operand that may have either sign by itself.
Lost Signs::lost(uint32_t node) const {
  for (;;) {
    const Term &term = terms.nodes()[node];
    if (term.kind == TermKind::Unknown)
      return {term.at, term.why};
    const auto hasNone = [&](uint32_t operand) {
      const Fact &its = facts[operand];
      const TermKind kind = terms.nodes()[operand].kind;
      return kind != TermKind::X && kind != TermKind::Y && !its.nonNegative && !its.nonPositive;
    };
    llvm::ArrayRef<uint32_t> of = term.of;
    if (term.kind == TermKind::Chosen)
      of = of.drop_front();
    const auto next = llvm::find_if(of, hasNone);
    if (next == of.end()) {
      const std::string name = "'" + term.at->getName().getStringRef().str() + "'";
      if (term.kind == TermKind::X || term.kind == TermKind::Y)
        return {term.at, "a coordinate may have either sign"};
      return {term.at, name + " may give either sign"};
    }
    node = *next;
  }
}
