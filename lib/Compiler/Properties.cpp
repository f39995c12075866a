//===- Properties.cpp - What is proved of a metric, for programs ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Properties.h"

#include "annudf/Analysis/Forms.h"
#include "annudf/Analysis/Properties.h"
#include "annudf/Analysis/RowUses.h"
#include "annudf/Dialect/IR/Descriptor.h"
#include "annudf/Dialect/Transforms/AbiRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::compiler;
namespace json = llvm::json;

/// In the JSON.
static const char *keyOf(Property property) {
  switch (property) {
  case Property::Canonical:
    return "joined";
  case Property::Polynomial:
    return "polynomial";
  case Property::Symmetric:
    return "symmetric";
  case Property::Difference:
    return "difference";
  case Property::Sign:
    return "sign";
  case Property::Monotone:
    return "monotone";
  }
  return "";
}

/// Names come from sources of other people.
static json::Value textOf(const std::string &text) { return json::fixUTF8(text); }

namespace {

class Writer {
public:
  Writer(ir::MetricOp metric, const Messages &messages) : metric(metric), messages(messages) {}

  json::Object run() {
    const MetricProperties properties = inferProperties(metric);
    json::Array fields;
    for (const FieldProperties &field : properties.fields)
      fields.push_back(fieldOf(field, properties.coefficients));
    json::Object all{
        {"metric", textOf(metric.getSymName().str())},
        {"fields", std::move(fields)},
        {"row_only_indexes", rowOnlyIndexes(cast<ir::UdfOpInterface>(metric.getOperation()))}};
    const FormProof proof = proveForm(metric);
    if (!proof.form) {
      all["quadratic"] = lost("no form", proof.why, proof.at);
      return all;
    }
    all["quadratic"] = proved(formText(proof.form), /*isExact=*/false, {});
    all["form"] = llvm::cantFail(json::parse(formToJson(*proof.form)));
    return all;
  }

private:
  static json::Object proved(const std::string &text, bool isExact,
                             const std::vector<Condition> &conditions) {
    json::Array where;
    for (const Condition &one : conditions)
      where.push_back(json::Array{textOf(one.capture), relationOf(one.kind)});
    return json::Object{
        {"proved", true}, {"text", textOf(text)}, {"exact", isExact}, {"where", std::move(where)}};
  }

  json::Object lost(const std::string &text, const std::string &why, Operation *at) const {
    const annudf::Diagnostic place = messages.at(at->getLoc());
    return json::Object{{"proved", false},    {"text", textOf(text)},
                        {"why", textOf(why)}, {"file", textOf(place.file)},
                        {"line", place.line}, {"column", place.column}};
  }

  json::Object fieldOf(const FieldProperties &field, const Coefficients &coefficients) const {
    json::Object all{{"text", textOf(spell(field, coefficients))}};
    for (Property property : kProperties)
      all[keyOf(property)] = claimOf(field, property, coefficients);
    if (!field.polynomial)
      return all;
    json::Object texts;
    for (const auto &[power, text] : polynomialTexts(coefficients.nodes(), field.polynomial->exact))
      texts[power] = textOf(text);
    all["coefficients"] = std::move(texts);
    return all;
  }

  json::Object claimOf(const FieldProperties &field, Property property,
                       const Coefficients &coefficients) const {
    const auto isOf = [&](Property one) {
      return llvm::find_if(field.unproved,
                           [&](const Unproved &other) { return other.property == one; });
    };
    auto why = isOf(property);
    // A field that is no sum of terms needs nothing more, but for a choice.
    if (why == field.unproved.end() &&
        !(property == Property::Monotone && field.monotone != Monotone::Unknown))
      why = isOf(Property::Canonical);
    if (why != field.unproved.end())
      return lost(std::string("not proved ") + phraseOf(property), why->why, why->at);
    if (property == Property::Canonical)
      return proved("the field joined with terms", /*isExact=*/true, {});
    const std::string text = spell(field, property, coefficients);
    if (property == Property::Polynomial)
      return proved(text, /*isExact=*/false, {});
    if (property == Property::Symmetric)
      return proved(text, field.symmetric == Claim::Exact, {});
    if (property == Property::Difference)
      return proved(text, field.difference == Claim::Exact, {});
    const bool isSign = property == Property::Sign;
    json::Object all = proved(text, /*isExact=*/true, isSign ? field.signIf : field.monotoneIf);
    all["value"] = isSign ? wordsOf(field.sign) : wordsOf(field.monotone);
    return all;
  }

  ir::MetricOp metric;
  const Messages &messages;
};

} // namespace

/// How the steps of one pair grow with the number of dimensions.
static std::string costText(ir::DistanceOp distance) {
  const int degree = costOf(distance);
  return degree == 0 ? "O(1)" : degree == 1 ? "O(d)" : "O(d^" + std::to_string(degree) + ")";
}

std::string compiler::propertiesToJson(ir::UdfOpInterface udf, const Messages &messages) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto metric = dyn_cast<ir::MetricOp>(udf.getOperation()))
    os << json::Value(Writer(metric, messages).run());
  else if (auto pairwise = dyn_cast<ir::PairwiseOp>(udf.getOperation()))
    os << json::Value(json::Object{{"pairwise", textOf(udf.getSymName().str())},
                                   {"row_only_indexes", rowOnlyIndexes(udf)},
                                   {"cost", costText(pairwise.getDistance())}});
  else
    os << json::Value(json::Object{{"filter", textOf(udf.getSymName().str())},
                                   {"row_only_indexes", rowOnlyIndexes(udf)},
                                   {"sees_query", ir::describe(udf).seesQuery}});
  return text;
}
