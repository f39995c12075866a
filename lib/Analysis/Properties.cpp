//===- Properties.cpp - What is proved of a metric's formula -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Analysis/Properties.h"

#include "Choices.h"
#include "Terms.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

const char *annudf::phraseOf(Property property) {
  switch (property) {
  case Property::Canonical:
    return "to be the field joined with terms";
  case Property::Polynomial:
    return "to be a polynomial of x and y";
  case Property::Symmetric:
    return "to be symmetric";
  case Property::Difference:
    return "to be a function of x - y";
  case Property::Sign:
    return "to have terms of one sign";
  case Property::Monotone:
    return "to be monotone";
  }
  return "";
}

namespace {

class Inference {
public:
  explicit Inference(MetricOp metric) : metric(metric), joins(metric), terms(metric) {}

  MetricProperties run() {
    const SmallVector<Accumulator> kinds = metric.getAccumulatorKinds();
    std::vector<std::vector<uint32_t>> nodes(kinds.size());
    result.fields.resize(kinds.size());
    // All terms first: what is analysed are nodes.
    for (unsigned i = 0; i < kinds.size(); ++i) {
      Joins::Why why;
      FieldProperties &field = result.fields[i];
      field.joined = joins.of(i, &why);
      if (field.joined)
        nodes[i] = terms.termsOf(*field.joined);
      else
        loseJoin(field, i, why);
    }
    Polynomials polynomials(terms, result.coefficients);
    const Exchanges exchanges(terms);
    const Signs signs(terms);
    for (unsigned i = 0; i < kinds.size(); ++i) {
      FieldProperties &field = result.fields[i];
      if (!field.joined)
        continue;
      findPolynomial(field, nodes[i], polynomials);
      findSymmetry(field, nodes[i], exchanges);
      findSign(field, nodes[i], signs);
      findMonotone(field, i);
    }
    return std::move(result);
  }

private:
  static void lose(FieldProperties &field, Property property, const Lost &lost) {
    field.unproved.push_back({property, lost.at, lost.why});
  }

  /// A field that is no join may be the larger or smaller of itself and of something, as which
  /// Python's max(acc, v) arrives: whatever v is, it is no smaller, or NaN where it was.
  void loseJoin(FieldProperties &field, unsigned index, const Joins::Why &why) {
    field.unproved.push_back({Property::Canonical, why.at, why.text});
    Block &block = metric.getUpdate().getBody().front();
    const Value next = block.getTerminator()->getOperand(index);
    const std::optional<Choice> choice = choiceOf(next, block.getArgument(index));
    if (!choice)
      return;
    if (choice->keepsNaN)
      field.monotone = choice->isLarger ? Monotone::Grows : Monotone::Falls;
    else
      lose(field, Property::Monotone,
           {next.getDefiningOp(), "the field may be NaN and become a number again; a choice that "
                                  "keeps it, as max(acc, v) in Python, is monotone"});
  }

  void findPolynomial(FieldProperties &field, ArrayRef<uint32_t> nodes, Polynomials &polynomials) {
    if (field.joined->join && *field.joined->join != Join::Sum)
      return lose(field, Property::Polynomial,
                  {field.joined->terms.front().op, "the field is no sum of floats"});
    field.polynomial = polynomials.sumOf(nodes);
    if (!field.polynomial)
      lose(field, Property::Polynomial, polynomials.lost(nodes));
  }

  void findSymmetry(FieldProperties &field, ArrayRef<uint32_t> nodes, const Exchanges &exchanges) {
    Coefficients &c = result.coefficients;
    using Q = Quadratic;
    const Q *of = field.polynomial ? &field.polynomial->exact : nullptr;
    const auto mixed = llvm::find_if(
        nodes, [&](uint32_t node) { return exchanges.parityOf(node) < Parity::Even; });
    if (mixed == nodes.end())
      field.symmetric = Claim::Exact;
    else if (of && of->of[Q::XX] == of->of[Q::YY] && of->of[Q::X] == of->of[Q::Y])
      field.symmetric = Claim::Real;
    else
      lose(field, Property::Symmetric, exchanges.asymmetric(*mixed));
    const auto other =
        llvm::find_if(nodes, [&](uint32_t node) { return !exchanges.isOfDifference(node); });
    if (other == nodes.end())
      field.difference = Claim::Exact;
    else if (of && of->of[Q::XX] == of->of[Q::YY] &&
             of->of[Q::XY] == c.negated(c.sum(of->of[Q::XX], of->of[Q::XX])) &&
             of->of[Q::X] == c.negated(of->of[Q::Y]))
      field.difference = Claim::Real;
    else
      lose(field, Property::Difference, exchanges.notOfDifference(*other));
  }

  void findSign(FieldProperties &field, ArrayRef<uint32_t> nodes, const Signs &signs) {
    for (auto [sign, fact] : {std::pair(Sign::NonNegative, &Signs::Fact::nonNegative),
                              std::pair(Sign::NonPositive, &Signs::Fact::nonPositive)}) {
      std::vector<Condition> all;
      const bool holds = llvm::all_of(nodes, [&](uint32_t node) {
        const auto &conditions = signs.of(node).*fact;
        if (conditions)
          all.insert(all.end(), conditions->begin(), conditions->end());
        return conditions.has_value() && !isInteger(node);
      });
      if (!holds)
        continue;
      llvm::sort(all);
      all.erase(std::unique(all.begin(), all.end()), all.end());
      if (field.sign == Sign::Unknown || all.size() < field.signIf.size())
        field.sign = sign, field.signIf = std::move(all);
    }
    if (field.sign != Sign::Unknown)
      return;
    const auto none = llvm::find_if(nodes, [&](uint32_t node) {
      return isInteger(node) || (!signs.of(node).nonNegative && !signs.of(node).nonPositive);
    });
    if (none == nodes.end())
      return lose(field, Property::Sign,
                  {field.joined->terms.front().op, "its terms have two signs"});
    const Term &term = terms.nodes()[*none];
    lose(field, Property::Sign,
         isInteger(*none)
             ? Lost{term.at, "it is an integer, which may be read as signed or unsigned"}
             : signs.lost(*none));
  }

  /// The field may take the bits of a capture for a number of the other sign; the least integer
  /// has no negative.
  bool isInteger(uint32_t node) const {
    const Type type = terms.nodes()[node].type;
    return type && type.isInteger();
  }

  /// Whether init yields a constant that is no NaN.
  bool beginsWithNumber(unsigned index) {
    FloatAttr initial;
    Block &block = metric.getInit().getBody().front();
    return matchPattern(block.getTerminator()->getOperand(index), m_Constant(&initial)) &&
           !initial.getValue().isNaN();
  }

  void findMonotone(FieldProperties &field, unsigned index) {
    if (!field.joined->join) { // It never changes.
      field.monotone = Monotone::Grows;
      return;
    }
    Operation *last = field.joined->terms.back().op;
    const bool isUnsigned = metric.getAccumulatorKinds()[index] == Accumulator::U32;
    switch (*field.joined->join) {
    case Join::Sum:
      if (field.sign == Sign::Unknown) {
        const Unproved &why = field.unproved.back(); // What findSign has said.
        return lose(field, Property::Monotone, {why.at, std::string(why.why)});
      }
      field.monotone = field.sign == Sign::NonNegative ? Monotone::Grows : Monotone::Falls;
      field.monotoneIf = field.signIf;
      return;
    case Join::Maximum:
    case Join::Minimum:
      field.monotone = field.joined->join == Join::Maximum ? Monotone::Grows : Monotone::Falls;
      return;
    case Join::MaxNum:
    case Join::MinNum:
      // From NaN it would come back.
      if (!beginsWithNumber(index))
        return lose(field, Property::Monotone,
                    {last, "the field may begin as NaN, which '" +
                               last->getName().getStringRef().str() + "' forgets"});
      field.monotone = field.joined->join == Join::MaxNum ? Monotone::Grows : Monotone::Falls;
      return;
    case Join::MaxSI:
    case Join::MinSI:
      if (isUnsigned)
        break;
      field.monotone = field.joined->join == Join::MaxSI ? Monotone::Grows : Monotone::Falls;
      return;
    case Join::MaxUI:
    case Join::MinUI:
      if (!isUnsigned)
        break;
      field.monotone = field.joined->join == Join::MaxUI ? Monotone::Grows : Monotone::Falls;
      return;
    case Join::SumI:
      return lose(field, Property::Monotone, {last, "sums of integers wrap around"});
    case Join::Product:
    case Join::ProductI:
    case Join::Xor:
    case Join::And:
    case Join::Or:
      break;
    }
    lose(field, Property::Monotone,
         {last, "'" + last->getName().getStringRef().str() +
                    "' is neither a sum nor the largest "
                    "or least of what the field counts"});
  }

  MetricOp metric;
  const Joins joins;
  Terms terms;
  MetricProperties result;
};

} // namespace

MetricProperties annudf::inferProperties(MetricOp metric) { return Inference(metric).run(); }

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

const char *annudf::wordsOf(Sign sign) {
  return sign == Sign::Unknown ? "" : sign == Sign::NonNegative ? ">= 0" : "<= 0";
}

const char *annudf::relationOf(Condition::Kind kind) {
  switch (kind) {
  case Condition::Kind::NonNegative:
    return ">= 0";
  case Condition::Kind::NonPositive:
    return "<= 0";
  case Condition::Kind::Positive:
    return "> 0";
  }
  return "";
}

/// " where w >= 0 and v > 0"; "" where nothing is asked.
static std::string conditionsText(const std::vector<Condition> &conditions) {
  std::string text;
  for (const Condition &one : conditions)
    text += (text.empty() ? " where " : " and ") + one.capture + " " + relationOf(one.kind);
  return text;
}

const char *annudf::wordsOf(Monotone monotone) {
  return monotone == Monotone::Unknown ? ""
         : monotone == Monotone::Grows ? "never falls"
                                       : "never grows";
}

static std::string spell(const Roundings &roundings) {
  std::string text;
  for (auto [count, format] : {std::pair(roundings.f16, "f16"), std::pair(roundings.f32, "f32"),
                               std::pair(roundings.f64, "f64")})
    if (count)
      text += (text.empty() ? "" : " and ") + std::to_string(count) + " of " + format;
  return text.empty() ? "exact" : "roundings: " + text;
}

std::string annudf::spell(const FieldProperties &field, Property property,
                          const Coefficients &coefficients) {
  const auto of = [](const std::string &text, Claim claim) {
    return claim == Claim::No ? "" : claim == Claim::Exact ? text : text + " but for rounding";
  };
  switch (property) {
  case Property::Canonical:
    return "";
  case Property::Polynomial:
    return field.polynomial
               ? "adds " + polynomialText(coefficients.nodes(), field.polynomial->exact) + " (" +
                     ::spell(field.polynomial->roundings) + ")"
               : "";
  case Property::Symmetric:
    return of("symmetric", field.symmetric);
  case Property::Difference:
    return of("a function of x - y", field.difference);
  case Property::Sign:
    return field.sign == Sign::Unknown
               ? ""
               : std::string("terms ") + wordsOf(field.sign) + conditionsText(field.signIf);
  case Property::Monotone:
    return wordsOf(field.monotone) + conditionsText(field.monotoneIf);
  }
  return "";
}

std::string annudf::spell(const FieldProperties &field, const Coefficients &coefficients) {
  std::string text;
  for (Property property : kProperties)
    if (const std::string one = spell(field, property, coefficients); !one.empty())
      text += (text.empty() ? "" : "; ") + one;
  return text;
}
