//===- Exchanges.cpp - Terms with x and y exchanged -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Claims of what is computed, to the bit but for the sign of a zero and what a NaN looks like. A
// product may be fused with a sum that uses it: where every operand is even or odd, so is the
// fused one. Two operands that change places must hold nothing that might be fused in one of them
// only.
//
//===----------------------------------------------------------------------===//

#include "Terms.h"

using namespace mlir;
using namespace annudf;

static std::string quoted(const Term &term) {
  return "'" + term.at->getName().getStringRef().str() + "'";
}

static bool isEven(Parity parity) { return parity == Parity::Even || parity == Parity::EvenBits; }

Exchanges::Exchanges(const Terms &terms) : terms(terms) {
  for (uint32_t i = 0; i < terms.nodes().size(); ++i) {
    others.push_back(exchanged(i));
    const Term &term = terms.nodes()[i];
    parities.push_back(term.isOfCoordinates ? parity(term) : Parity::EvenBits);
    differences.push_back(term.isOfCoordinates ? difference(term) : Difference{Format::None, true});
  }
}

std::optional<uint32_t> Exchanges::exchanged(uint32_t node) const {
  const Term &term = terms.nodes()[node];
  if (!term.isOfCoordinates)
    return node;
  if (term.kind == TermKind::Unknown)
    return std::nullopt;
  Term other = term;
  if (term.kind == TermKind::X || term.kind == TermKind::Y)
    other.kind = term.kind == TermKind::X ? TermKind::Y : TermKind::X;
  for (uint32_t &operand : other.of) {
    if (!others[operand])
      return std::nullopt;
    operand = *others[operand];
  }
  return terms.find(other);
}

bool Exchanges::arePair(uint32_t a, uint32_t b) const {
  return others[a] == b && others[b] == a && !terms.nodes()[a].mayFuse && !terms.nodes()[b].mayFuse;
}

Parity Exchanges::added(Parity a, Parity b) const {
  if (a == Parity::EvenBits && b == Parity::EvenBits)
    return Parity::EvenBits;
  if (isEven(a) && isEven(b))
    return Parity::Even;
  return a == Parity::Odd && b == Parity::Odd ? Parity::Odd : Parity::Unknown;
}

/// The first two operands.
Parity Exchanges::multiplied(const Term &term) const {
  const Parity a = parities[term.of[0]], b = parities[term.of[1]];
  if (a == Parity::EvenBits && b == Parity::EvenBits)
    return Parity::EvenBits;
  // A square has no sign.
  if (term.of[0] == term.of[1] && a != Parity::Unknown)
    return Parity::EvenBits;
  if (arePair(term.of[0], term.of[1]))
    return Parity::EvenBits;
  if (a == Parity::Unknown || b == Parity::Unknown)
    return Parity::Unknown;
  return isEven(a) == isEven(b) ? Parity::Even : Parity::Odd;
}

/// max(d, -d) too: with d odd the two change places.
Parity Exchanges::largest(const Term &term) const {
  const uint32_t a = term.of[0], b = term.of[1];
  if (isEven(parities[a]) && isEven(parities[b]))
    return Parity::Even;
  const auto isNegated = [&](uint32_t one, uint32_t of) {
    const Term &node = terms.nodes()[one];
    return node.kind == TermKind::Negated && node.of[0] == of && parities[of] == Parity::Odd;
  };
  const bool change = arePair(a, b) || isNegated(a, b) || isNegated(b, a);
  return change ? Parity::Even : Parity::Unknown;
}

/// Comparisons take +0 and -0 for equal.
Parity Exchanges::compared(const Term &term) const {
  using P = arith::CmpFPredicate;
  const uint32_t a = term.of[0], b = term.of[1];
  if (isEven(parities[a]) && isEven(parities[b]))
    return Parity::EvenBits;
  const bool isMutual =
      llvm::is_contained({P::OEQ, P::ONE, P::UEQ, P::UNE, P::ORD, P::UNO}, term.predicate);
  if (!isMutual)
    return Parity::Unknown;
  const auto isZero = [&](uint32_t node) {
    return terms.nodes()[node].kind == TermKind::Constant && terms.nodes()[node].number == 0;
  };
  const bool ofZero =
      (parities[a] == Parity::Odd && isZero(b)) || (parities[b] == Parity::Odd && isZero(a));
  return ofZero || arePair(a, b) ? Parity::EvenBits : Parity::Unknown;
}

Parity Exchanges::chosen(const Term &term) const {
  return parities[term.of[0]] == Parity::EvenBits
             ? added(parities[term.of[1]], parities[term.of[2]])
             : Parity::Unknown;
}

Parity Exchanges::parity(const Term &term) const {
  const auto of = [&](size_t i) { return parities[term.of[i]]; };
  const bool allBits = llvm::all_of(
      term.of, [&](uint32_t operand) { return parities[operand] == Parity::EvenBits; });
  switch (term.kind) {
  case TermKind::Unknown:
  case TermKind::X:
  case TermKind::Y:
    return Parity::Unknown;
  case TermKind::Constant:
  case TermKind::Entry:
    return Parity::EvenBits;
  case TermKind::Negated:
  case TermKind::Extended:
  case TermKind::Truncated:
    return of(0);
  case TermKind::Absolute:
    return of(0) == Parity::Unknown ? Parity::Unknown : Parity::EvenBits;
  case TermKind::Magnitude:
    return of(0) == Parity::Odd ? Parity::Even : of(0);
  case TermKind::Sum:
    // x w + y w: only one of the products might be fused with the sum.
    if (!terms.nodes()[term.of[0]].hasProduct && arePair(term.of[0], term.of[1]))
      return Parity::EvenBits;
    return added(of(0), of(1));
  case TermKind::Difference:
    if (!terms.nodes()[term.of[0]].hasProduct && arePair(term.of[0], term.of[1]))
      return Parity::Odd;
    return added(of(0), of(1));
  case TermKind::Product:
  case TermKind::ExactProduct:
    return multiplied(term);
  case TermKind::Fma:
    return added(multiplied(term), of(2));
  case TermKind::Quotient:
    // By -0 a quotient is infinite the other way.
    return of(1) == Parity::EvenBits ? of(0) : Parity::Unknown;
  case TermKind::Root:
    return isEven(of(0)) ? of(0) : Parity::Unknown;
  case TermKind::Maximum:
  case TermKind::Minimum:
  case TermKind::MaxNum:
  case TermKind::MinNum:
    return largest(term);
  case TermKind::Compared:
    return compared(term);
  case TermKind::Chosen:
    return chosen(term);
  case TermKind::Exponential:
  case TermKind::FromSigned:
  case TermKind::FromUnsigned:
    return allBits ? Parity::EvenBits : Parity::Unknown;
  }
  llvm_unreachable("unknown kind of a term");
}

/// Any known op of values that are functions of one x - y is one of it: as a rounded number of one
/// format, since the differences of two formats need not determine each other. 0 - 0 has either
/// sign, which a divisor shows.
Exchanges::Difference Exchanges::difference(const Term &term) const {
  if (term.of.empty()) // x, y, and what is unknown.
    return {};
  if (term.kind == TermKind::Difference) {
    uint32_t a = term.of[0], b = term.of[1];
    while (terms.nodes()[a].kind == TermKind::Extended &&
           terms.nodes()[b].kind == TermKind::Extended)
      a = terms.nodes()[a].of[0], b = terms.nodes()[b].of[0];
    const TermKind left = terms.nodes()[a].kind, right = terms.nodes()[b].kind;
    if ((left == TermKind::X && right == TermKind::Y) ||
        (left == TermKind::Y && right == TermKind::X))
      return {term.type.isF16()   ? Format::F16
              : term.type.isF32() ? Format::F32
                                  : Format::F64,
              false};
  }
  Difference found{Format::None, true};
  for (uint32_t operand : term.of) {
    const Difference one = differences[operand];
    if (one.format == Format::Unknown ||
        (one.format != Format::None && found.format != Format::None && found.format != one.format))
      return {};
    found.hasBits &= one.hasBits;
    if (one.format != Format::None)
      found.format = one.format;
  }
  if (term.kind == TermKind::Quotient && !differences[term.of[1]].hasBits)
    return {};
  found.hasBits |= term.kind == TermKind::Absolute || term.kind == TermKind::Compared ||
                   (term.kind == TermKind::Product && term.of[0] == term.of[1]);
  return found;
}

/// The first node on the way down that has it not though its operands have.
template <typename Has, typename IsEnd>
static uint32_t lostAt(const Terms &terms, uint32_t node, Has has, IsEnd isEnd) {
  for (;;) {
    const Term &term = terms.nodes()[node];
    const auto next = llvm::find_if(term.of, [&](uint32_t operand) {
      const TermKind kind = terms.nodes()[operand].kind;
      return kind != TermKind::X && kind != TermKind::Y && !has(operand);
    });
    if (next == term.of.end() || isEnd(term))
      return node;
    node = *next;
  }
}

static std::string nameOf(const Term &term) {
  return term.kind == TermKind::X || term.kind == TermKind::Y ? "a coordinate by itself"
                                                              : quoted(term);
}

Lost Exchanges::asymmetric(uint32_t node) const {
  if (parities[node] == Parity::Odd)
    return {terms.nodes()[node].at,
            quoted(terms.nodes()[node]) + " changes its sign when x and y are exchanged"};
  // What changes places with another operand is not where it is lost.
  const auto mayNotChange = [&](const Term &term) {
    return (term.kind == TermKind::Sum || term.kind == TermKind::Difference) &&
           others[term.of[0]] == term.of[1] && others[term.of[1]] == term.of[0];
  };
  const auto isKnown = [&](uint32_t one) { return parities[one] != Parity::Unknown; };
  const Term &term = terms.nodes()[lostAt(terms, node, isKnown, mayNotChange)];
  if (term.kind == TermKind::Unknown)
    return {term.at, term.why};
  if (mayNotChange(term))
    return {term.at,
            quoted(term) + " may be fused with one of its operands and not with the other"};
  return {term.at, nameOf(term) + " is not known to stay the same, or to change its sign only, "
                                  "when x and y are exchanged"};
}

Lost Exchanges::notOfDifference(uint32_t node) const {
  const auto isKnown = [&](uint32_t one) { return isOfDifference(one); };
  const Term &term =
      terms.nodes()[lostAt(terms, node, isKnown, [](const Term &) { return false; })];
  if (term.kind == TermKind::Unknown)
    return {term.at, term.why};
  return {term.at, nameOf(term) + " uses x or y outside of x - y"};
}
