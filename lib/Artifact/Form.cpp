//===- Form.cpp - A metric's formula as data ------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Form.h"

#include "FormFields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace annudf {

std::string spellIndex(const EntryIndex &index) {
  switch (index.kind) {
  case EntryIndex::Kind::Dim:
    return "dim";
  case EntryIndex::Kind::Query:
    return "query";
  case EntryIndex::Kind::Number:
    return std::to_string(index.number);
  }
  return {};
}

namespace {

using Kind = Coefficient::Kind;
using Finalize = QuadraticForm::Finalize;
using Lengths = QuadraticForm::Lengths;

/// Fields of an accumulator that is divided by lengths, and by those less their means.
constexpr uint32_t kFieldsOfLengths = 3, kFieldsOfMeans = 5;

/// Numbers and entries in a text; what shares nodes could be written out for ever.
constexpr uint32_t kMostSpelled = 12;

class Speller {
public:
  explicit Speller(const std::vector<Coefficient> &nodes) : nodes(nodes) {
    for (const Coefficient &node : nodes)
      leaves.push_back(
          node.operands() == 0
              ? 1
              : std::min(kMostSpelled + 1,
                         leaves[node.a] + (node.operands() == 2 ? leaves[node.b] : 0)));
  }

  std::string spell(uint32_t node, bool inProduct = false) const {
    const Coefficient &one = nodes[node];
    if (leaves[node] > kMostSpelled)
      return "(...)";
    auto grouped = [&](const std::string &text) { return inProduct ? "(" + text + ")" : text; };
    switch (one.kind) {
    case Kind::Number:
      return numberText(one.number);
    case Kind::Entry: {
      std::string text = one.capture;
      for (const EntryIndex &index : one.indices)
        text += "[" + spellIndex(index) + "]";
      return text;
    }
    case Kind::Negated:
      return grouped("-" + spell(one.a, true));
    case Kind::Sum:
      if (nodes[one.b].kind == Kind::Negated)
        return grouped(spell(one.a) + " - " + spell(nodes[one.b].a, true));
      if (nodes[one.a].kind == Kind::Negated)
        return grouped(spell(one.b) + " - " + spell(nodes[one.a].a, true));
      return grouped(spell(one.a) + " + " + spell(one.b));
    case Kind::Product:
      return spell(one.a, true) + " " + spell(one.b, true);
    case Kind::Quotient:
      return grouped(
          spell(one.a, true) + " / " +
          (nodes[one.b].kind == Kind::Product ? "(" + spell(one.b) + ")" : spell(one.b, true)));
    case Kind::Absolute:
      return "|" + spell(one.a) + "|";
    }
    return {};
  }

private:
  const std::vector<Coefficient> &nodes;
  std::vector<uint32_t> leaves; ///< Leaves of each node as it would be spelled, up to a bound.
};

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Whether an entry is there, whatever the dims and the query.
bool isInside(const EntryIndex &index, const CaptureExtent &extent, int32_t dims) {
  switch (extent.kind) {
  case ANNUDF_EXTENT_CONSTANT:
    return index.kind == EntryIndex::Kind::Number
               ? index.number >= 0 && index.number < extent.constant
               : index.kind == EntryIndex::Kind::Dim && dims > 0 && dims <= extent.constant;
  case ANNUDF_EXTENT_DIM:
    return index.kind == EntryIndex::Kind::Dim ||
           (index.kind == EntryIndex::Kind::Number && index.number >= 0 &&
            index.number < std::max(dims, 1));
  case ANNUDF_EXTENT_QUERY:
    return index.kind == EntryIndex::Kind::Query;
  case ANNUDF_EXTENT_ROW:
    return false;
  }
  return false;
}

std::string faultOfEntry(const MetricDescriptor &m, const Coefficient &entry) {
  const auto capture = std::find_if(m.captures.begin(), m.captures.end(),
                                    [&](const auto &one) { return one.name == entry.capture; });
  if (capture == m.captures.end())
    return "names " + inQuotes(entry.capture) + ", which is no capture";
  if (capture->extents.size() != entry.indices.size())
    return "has " + std::to_string(entry.indices.size()) + " indices of capture " +
           inQuotes(entry.capture) + ", which is " + typeText(*capture);
  for (size_t i = 0; i < entry.indices.size(); ++i)
    if (!isInside(entry.indices[i], capture->extents[i], m.dims))
      return "has index " + spellIndex(entry.indices[i]) + " of capture " +
             inQuotes(entry.capture) + ", which is " + typeText(*capture);
  return "";
}

bool tooMany(const Roundings &roundings, uint32_t accumulations, uint32_t most) {
  return roundings.f16 != 0 || roundings.f32 > most || roundings.f64 > most || accumulations == 0 ||
         accumulations > QuadraticForm::kMostAccumulations;
}

bool isEta(double eta) { return eta == 0 || eta == kEtaF32 || eta == kEtaF64; }

/// All, by the names that manifests have for them.
std::vector<std::pair<std::string, const Quadratic *>> polynomialsOf(const QuadraticForm &form) {
  std::vector<std::pair<std::string, const Quadratic *>> all;
  for (const auto &[name, of] : kFormPolynomials)
    all.emplace_back(name, &(form.*of));
  for (const auto &[name, of] : kLengthPolynomials)
    if (form.lengths)
      all.emplace_back(std::string("lengths.") + name, &(*form.lengths.*of));
  return all;
}

/// Nodes, from the first: operands stand before what uses them.
std::string faultOfNodes(const MetricDescriptor &m) {
  const std::vector<Coefficient> &nodes = m.form->nodes;
  if (nodes.empty() || nodes.front() != Coefficient{Kind::Number, 0, 0, 0, {}, {}})
    return "'form.nodes' does not begin with 0";
  if (nodes.size() > QuadraticForm::kMostNodes)
    return "'form.nodes' has " + std::to_string(nodes.size()) + " nodes; it must have at most " +
           std::to_string(QuadraticForm::kMostNodes);
  std::vector<bool> isUsed(nodes.size());
  isUsed[0] = true;
  for (const auto &[name, polynomial] : polynomialsOf(*m.form))
    for (uint32_t node : polynomial->of) {
      if (node >= nodes.size())
        return "'form." + name + "' names node " + std::to_string(node) + " of " +
               std::to_string(nodes.size());
      isUsed[node] = true;
    }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string place = "'form.nodes[" + std::to_string(i) + "]' ";
    const Coefficient &node = nodes[i];
    for (int operand = 0; operand < node.operands(); ++operand) {
      const uint32_t of = operand == 0 ? node.a : node.b;
      if (of >= i)
        return place + "uses node " + std::to_string(of) + ", which does not stand before it";
      isUsed[of] = true;
    }
    if (node.kind == Kind::Entry)
      if (const std::string fault = faultOfEntry(m, node); !fault.empty())
        return place + fault;
    if (node.kind == Kind::Number && !isNumber(node.number))
      return place + "is no finite number";
  }
  if (m.form->lengths && m.form->lengths->means) {
    const uint32_t count = m.form->lengths->means->count;
    if (count >= nodes.size())
      return "'form.lengths.means.count' names node " + std::to_string(count) + " of " +
             std::to_string(nodes.size());
    isUsed[count] = true;
  }
  const auto unused = std::find(isUsed.begin(), isUsed.end(), false);
  if (unused != isUsed.end())
    return "'form.nodes[" + std::to_string(unused - isUsed.begin()) + "]' is used by nothing";
  return "";
}

/// Bounds are of absolute values, so each of their coefficients is not negative by how it is made.
std::string faultOfBounds(const QuadraticForm &form) {
  std::vector<bool> isNotNegative;
  isNotNegative.reserve(form.nodes.size());
  for (const Coefficient &node : form.nodes)
    isNotNegative.push_back(
        node.kind == Kind::Absolute || (node.kind == Kind::Number && node.number >= 0) ||
        (node.operands() == 2 && isNotNegative[node.a] && isNotNegative[node.b]));
  using Q = Quadratic;
  for (const auto &[name, polynomial] : polynomialsOf(form)) {
    if (polynomial == &form.exact || (form.lengths && polynomial == &form.lengths->exact))
      continue;
    for (uint32_t node : polynomial->of)
      if (!isNotNegative[node])
        return "'form." + name + "' names node " + std::to_string(node) + ", which may be negative";
    for (Q::Power power : {Q::XY, Q::YY, Q::Y})
      if (form.ofDifference && polynomial->of[power] != 0)
        return "'form." + name + "' is not of x - y alone";
  }
  return "";
}

/// What is wrong with the means in the place of a product and squares.
std::string faultOfMeans(const QuadraticForm &form) {
  const Lengths &lengths = *form.lengths;
  const Lengths::Means &means = *lengths.means;
  if (means.x >= kFieldsOfMeans || means.y >= kFieldsOfMeans || means.x == means.y ||
      means.x == lengths.product || means.y == lengths.product)
    return "'form.lengths.means' has fields " + std::to_string(means.x) + " and " +
           std::to_string(means.y) + ", beside " + std::to_string(lengths.product) + " of " +
           std::to_string(kFieldsOfMeans);
  if (tooMany(means.roundings, 1, Lengths::kMostRoundings))
    return "'form.lengths.means' says more roundings than it may have";
  using Q = Quadratic;
  for (const auto &[polynomial, power] : {std::pair(&form.exact, Q::XY),
                                          {&form.size, Q::XY},
                                          {&lengths.exact, Q::XX},
                                          {&lengths.exact, Q::YY},
                                          {&lengths.size, Q::XX},
                                          {&lengths.size, Q::YY}})
    if (const Coefficient &node = form.nodes[polynomial->of[power]];
        node.kind != Kind::Number || node.number != 1)
      return "'form.lengths.means' is of sums whose coefficients are not all 1";
  const Coefficient &count = form.nodes[means.count];
  if (count.kind != Kind::Number &&
      (count.kind != Kind::Entry ||
       std::any_of(count.indices.begin(), count.indices.end(),
                   [](const EntryIndex &index) { return index.kind != EntryIndex::Kind::Number; })))
    return "'form.lengths.means.count' is neither a number nor an entry of a capture";
  return "";
}

/// What is wrong with the lengths that a product is divided by.
std::string faultOfLengths(const MetricDescriptor &m) {
  const QuadraticForm &form = *m.form;
  const Lengths &lengths = *form.lengths;
  const uint32_t fields = lengths.means ? kFieldsOfMeans : kFieldsOfLengths;
  const std::vector<annudf_accumulator> floats(fields, ANNUDF_ACCUMULATOR_F32);
  if (m.accumulator != ANNUDF_ACCUMULATOR_STRUCT || m.fields != floats)
    return std::string("'form.lengths' is of ") + (lengths.means ? "five" : "three") +
           " sums in f32, but the accumulator is " + accumulatorText(m);
  if (form.initial != 0 || form.ofDifference)
    return "'form.lengths' is of sums of x and y that begin with 0";
  using Q = Quadratic;
  for (size_t i = 0; i < form.exact.of.size(); ++i) {
    const bool isSquare = i == Q::XX || i == Q::YY;
    for (const auto &[name, node] :
         {std::pair("exact", form.exact.of[i]), {"size", form.size.of[i]}})
      if ((i == Q::XY) != (node != 0))
        return std::string("'form.") + name + "' is not of x y alone, as 'form.lengths' asks";
    for (const auto &[name, node] :
         {std::pair("exact", lengths.exact.of[i]), {"size", lengths.size.of[i]}})
      if (isSquare != (node != 0))
        return std::string("'form.lengths.") + name + "' is not of x^2 and y^2 alone";
  }
  if (lengths.product >= fields)
    return "'form.lengths.product' is field " + std::to_string(lengths.product) + " of " +
           std::to_string(fields);
  if (tooMany(lengths.roundings, lengths.accumulations, QuadraticForm::kMostRoundings) ||
      tooMany(lengths.ratio, 1, Lengths::kMostRoundings))
    return "'form.lengths' says more roundings than it may have";
  if (!isEta(lengths.eta))
    return "'form.lengths.eta' is half the smallest number of no format";
  if (lengths.least < Lengths::kLeast || lengths.least > Lengths::kMostLeast)
    return "'form.lengths.least' is " + std::to_string(-lengths.least) + ", which is not from " +
           std::to_string(-Lengths::kMostLeast) + " to " + std::to_string(-Lengths::kLeast);
  return lengths.means ? faultOfMeans(form) : "";
}

std::string faultOfParts(const MetricDescriptor &m) {
  const QuadraticForm &form = *m.form;
  if (!form.lengths && m.accumulator != ANNUDF_ACCUMULATOR_F32)
    return std::string("'form' is of a sum in f32, but the accumulator is ") +
           toString(m.accumulator);
  if (kindOf(m.compute) != NumberKind::Float)
    return std::string("'form' is of floats, but the compute type is ") + toString(m.compute);
  if (m.missingValues)
    return "'form' is of every coordinate, but field 'missing_values' is true";
  if (std::string fault = faultOfNodes(m); !fault.empty())
    return fault;
  if (std::string fault = faultOfBounds(form); !fault.empty())
    return fault;
  if (tooMany(form.roundings, form.accumulations, QuadraticForm::kMostRoundings))
    return "'form' says more roundings than a form may have";
  if (!isEta(form.eta))
    return "'form.eta' is half the smallest number of no format";
  if (!std::isfinite(form.initial) || static_cast<float>(form.initial) != form.initial)
    return "'form.initial' is " + numberText(form.initial) + ", which is no f32";
  if (form.initial != 0 && m.has(ANNUDF_HOOK_COMBINE))
    return "'form.initial' is " + numberText(form.initial) +
           ", but parts that combine joins begin with 0";
  if (form.finalize != Finalize::Identity && !m.has(ANNUDF_HOOK_FINALIZE))
    return "'form.finalize' says what field 'hooks' lacks";
  return form.lengths ? faultOfLengths(m) : "";
}

} // namespace

std::string faultOfForm(const MetricDescriptor &metric) {
  const std::string fault = metric.form ? faultOfParts(metric) : "";
  return fault.empty() ? "" : "manifest field " + fault;
}

std::string numberText(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return {text, end.ptr};
}

std::string coefficientText(const std::vector<Coefficient> &nodes, uint32_t node, bool inProduct) {
  return Speller(nodes).spell(node, inProduct);
}

/// Names of Quadratic::Power, in its order.
static constexpr const char *kPowers[] = {"x^2", "x y", "y^2", "x", "y", ""};

static bool isZero(const Coefficient &node) {
  return node.kind == Kind::Number && node.number == 0;
}

std::vector<std::pair<std::string, std::string>>
polynomialTexts(const std::vector<Coefficient> &nodes, const Quadratic &polynomial) {
  const Speller speller(nodes);
  std::vector<std::pair<std::string, std::string>> texts;
  for (size_t i = 0; i < polynomial.of.size(); ++i)
    if (const uint32_t node = polynomial.of[i]; !isZero(nodes[node]))
      texts.emplace_back(i == Quadratic::One ? "1" : kPowers[i], speller.spell(node));
  return texts;
}

std::string polynomialText(const std::vector<Coefficient> &nodes, const Quadratic &polynomial) {
  const Speller speller(nodes);
  std::string text;
  for (size_t i = 0; i < polynomial.of.size(); ++i) {
    const uint32_t node = polynomial.of[i];
    const Coefficient &one = nodes[node];
    if (isZero(one))
      continue;
    const bool isMinus = one.kind == Kind::Negated || (one.kind == Kind::Number && one.number < 0);
    text += text.empty() ? (isMinus ? "-" : "") : (isMinus ? " - " : " + ");
    std::string factor;
    if (one.kind == Kind::Number)
      factor = numberText(std::abs(one.number));
    else
      factor = speller.spell(isMinus ? one.a : node, true);
    const std::string power = kPowers[i];
    if (factor == "1" && !power.empty())
      factor.clear();
    text += factor;
    if (!factor.empty() && !power.empty())
      text += " ";
    text += power;
  }
  return text.empty() ? "0" : text;
}

std::string formText(const std::optional<QuadraticForm> &form) {
  if (!form)
    return "no";
  std::string text = polynomialText(form->nodes, form->exact);
  if (form->lengths) {
    const auto squaresOf = [&](Quadratic::Power power) {
      Quadratic squares;
      squares.of[power] = form->lengths->exact.of[power];
      return polynomialText(form->nodes, squares);
    };
    text = "normalised: " + text + " / sqrt(" + squaresOf(Quadratic::XX) + " * " +
           squaresOf(Quadratic::YY) + ")";
    if (const auto &means = form->lengths->means)
      text += ", less their means of " +
              (means->count == 0 ? "dims" : coefficientText(form->nodes, means->count));
  }
  if (form->ofDifference)
    text += ", of x - y";
  if (form->initial != 0)
    text += ", begins with " + numberText(form->initial);
  if (form->finalize != Finalize::Identity)
    text += form->finalize == Finalize::Rises ? ", finalize rises" : ", finalize falls";
  return text;
}

} // namespace annudf
