//===- FormFields.cpp - A form as CBOR map and back -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormFields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace annudf {
namespace {

using Kind = Coefficient::Kind;
using Finalize = QuadraticForm::Finalize;
using Lengths = QuadraticForm::Lengths;

/// The ops' names in manifests.
constexpr struct {
  Kind kind;
  const char *spelling;
} kOps[] = {{Kind::Negated, "-"},
            {Kind::Sum, "+"},
            {Kind::Product, "*"},
            {Kind::Quotient, "/"},
            {Kind::Absolute, "|"}};

class Reader {
public:
  using Fail = std::function<void(const std::string &, const std::string &)>;
  explicit Reader(const Fail &fail) : callback(fail) {}

  QuadraticForm read(const Value &value) {
    const Map *map = value.as<Map>();
    if (!map)
      fail("", "must be a map");
    QuadraticForm form;
    for (const auto &[key, entry] : *map)
      field(form, key, entry);
    for (const char *required : {"nodes", "exact", "size", "small", "largest", "accumulations"})
      if (!map->contains(required))
        fail(std::string(".") + required, "is missing");
    return form;
  }

private:
  [[noreturn]] void fail(const std::string &place, const std::string &what) const {
    callback(place, what);
    throw std::logic_error("a fault of a form was passed over");
  }

  void field(QuadraticForm &form, const std::string &key, const Value &value) const {
    const std::string place = "." + key;
    for (const auto &polynomial : kFormPolynomials)
      if (key == polynomial.name)
        return polynomialOf(form.*polynomial.of, place, value);
    if (key == "nodes")
      nodes(form, place, value);
    else if (key == "lengths")
      form.lengths = lengths(place, value);
    else if (key == "of_difference") {
      const bool *is = value.as<bool>();
      if (!is || !*is)
        fail(place, "must be true; a form of x and y has no such field");
      form.ofDifference = true;
    } else if (key == "roundings") {
      form.roundings = roundings(place, value, QuadraticForm::kMostRoundings);
    } else if (key == "accumulations") {
      form.accumulations = count(place, value, QuadraticForm::kMostAccumulations);
    } else if (key == "eta") {
      form.eta = eta(place, value);
    } else if (key == "initial") {
      form.initial = number(place, value);
      if (form.initial == 0)
        fail(place, "is 0, which a form has without saying so");
    } else if (key == "finalize") {
      const auto *text = value.as<std::string>();
      if (!text || (*text != "rises" && *text != "falls"))
        fail(place, "must be one of rises, falls");
      form.finalize = *text == "rises" ? Finalize::Rises : Finalize::Falls;
    } else {
      fail("." + printableKey(key), "is unknown to this annudf");
    }
  }

  Lengths lengths(const std::string &place, const Value &value) const {
    const Map *map = value.as<Map>();
    if (!map)
      fail(place, "must be a map");
    Lengths lengths;
    for (const auto &[key, entry] : *map) {
      const std::string at = place + "." + printableKey(key);
      const auto *polynomial =
          std::find_if(std::begin(kLengthPolynomials), std::end(kLengthPolynomials),
                       [&name = key](const auto &one) { return name == one.name; });
      if (polynomial != std::end(kLengthPolynomials))
        polynomialOf(lengths.*polynomial->of, at, entry);
      else if (key == "product")
        lengths.product = index(at, entry, ANNUDF_MAX_FIELDS - 1);
      else if (key == "roundings")
        lengths.roundings = roundings(at, entry, QuadraticForm::kMostRoundings);
      else if (key == "ratio")
        lengths.ratio = roundings(at, entry, Lengths::kMostRoundings);
      else if (key == "accumulations")
        lengths.accumulations = count(at, entry, QuadraticForm::kMostAccumulations);
      else if (key == "eta")
        lengths.eta = eta(at, entry);
      else if (key == "least")
        lengths.least = -static_cast<int32_t>(count(at, entry, -Lengths::kLeast));
      else if (key == "means")
        lengths.means = means(at, entry);
      else
        fail(at, "is unknown to this annudf");
    }
    for (const char *required : {"product", "exact", "size", "small", "accumulations", "ratio"})
      if (!map->contains(required))
        fail(place + "." + required, "is missing");
    return lengths;
  }

  Lengths::Means means(const std::string &place, const Value &value) const {
    const Map *map = value.as<Map>();
    if (!map)
      fail(place, "must be a map");
    Lengths::Means means;
    for (const auto &[key, entry] : *map) {
      const std::string at = place + "." + printableKey(key);
      if (key == "x")
        means.x = index(at, entry, ANNUDF_MAX_FIELDS - 1);
      else if (key == "y")
        means.y = index(at, entry, ANNUDF_MAX_FIELDS - 1);
      else if (key == "count")
        means.count = count(at, entry, QuadraticForm::kMostNodes - 1);
      else if (key == "roundings")
        means.roundings = roundings(at, entry, Lengths::kMostRoundings);
      else
        fail(at, "is unknown to this annudf");
    }
    for (const char *required : {"x", "y", "roundings"})
      if (!map->contains(required))
        fail(place + "." + required, "is missing");
    return means;
  }

  static std::string printableKey(const std::string &key) {
    const std::string quoted = inQuotes(key);
    return quoted.substr(1, quoted.size() - 2);
  }

  uint32_t count(const std::string &place, const Value &value, uint32_t most) const {
    const auto *number = value.as<uint64_t>();
    if (!number || *number == 0 || *number > most)
      fail(place, "must be a number from 1 to " + std::to_string(most));
    return static_cast<uint32_t>(*number);
  }

  uint32_t index(const std::string &place, const Value &value, uint32_t last) const {
    const auto *number = value.as<uint64_t>();
    if (!number || *number > last)
      fail(place, "must be a number from 0 to " + std::to_string(last));
    return static_cast<uint32_t>(*number);
  }

  double eta(const std::string &place, const Value &value) const {
    const auto *text = value.as<std::string>();
    if (!text || (*text != "f32" && *text != "f64"))
      fail(place, "must be one of f32, f64");
    return *text == "f32" ? kEtaF32 : kEtaF64;
  }

  /// Spelled as numberText() does: equal forms have equal bytes.
  double number(const std::string &place, const Value &value) const {
    const auto *text = value.as<std::string>();
    if (!text)
      fail(place, "must be a number as text");
    double parsed = 0;
    const char *const end = text->data() + text->size();
    const auto result = std::from_chars(text->data(), end, parsed);
    if (result.ec != std::errc() || result.ptr != end || !isNumber(parsed) ||
        numberText(parsed) != *text)
      fail(place, "is " + inQuotes(*text) + ", which is no finite number in its shortest form");
    return parsed;
  }

  void polynomialOf(Quadratic &polynomial, const std::string &place, const Value &value) const {
    const List *list = value.as<List>();
    if (!list || list->size() != polynomial.of.size())
      fail(place, "must be a list of " + std::to_string(polynomial.of.size()) + " nodes");
    for (size_t i = 0; i < list->size(); ++i) {
      const auto *node = (*list)[i].as<uint64_t>();
      if (!node || *node >= QuadraticForm::kMostNodes)
        fail(place, "must be a list of " + std::to_string(polynomial.of.size()) + " nodes");
      polynomial.of[i] = static_cast<uint32_t>(*node);
    }
  }

  Roundings roundings(const std::string &place, const Value &value, uint32_t most) const {
    Roundings read;
    const Map *map = value.as<Map>();
    if (!map || map->empty())
      fail(place, "must be a map of formats");
    for (const auto &[format, times] : *map) {
      if (format != "f32" && format != "f64")
        fail(place, "names " + inQuotes(format) + ", it must be one of f32, f64");
      std::string at = place;
      at.append(".").append(format);
      (format == "f32" ? read.f32 : read.f64) = count(at, times, most);
    }
    return read;
  }

  void nodes(QuadraticForm &form, const std::string &place, const Value &value) const {
    const List *list = value.as<List>();
    if (!list)
      fail(place, "must be a list");
    if (list->size() > QuadraticForm::kMostNodes)
      fail(place, "has " + std::to_string(list->size()) + " nodes; it must have at most " +
                      std::to_string(QuadraticForm::kMostNodes));
    for (size_t i = 0; i < list->size(); ++i)
      form.nodes.push_back(node(place + "[" + std::to_string(i) + "]", (*list)[i]));
  }

  Coefficient node(const std::string &place, const Value &value) const {
    Coefficient made{};
    const List *list = value.as<List>();
    if (!list) {
      made.kind = Kind::Number;
      made.number = number(place, value);
      return made;
    }
    const auto *head = list->empty() ? nullptr : list->front().as<std::string>();
    if (!head)
      fail(place, "must begin with an operation or a capture");
    for (const auto &[kind, spelling] : kOps)
      if (*head == spelling) {
        made.kind = kind;
        operands(made, place, *list);
        return made;
      }
    made.kind = Kind::Entry;
    made.capture = *head;
    for (auto index = list->begin() + 1; index != list->end(); ++index)
      made.indices.push_back(indexOf(place, *index));
    return made;
  }

  void operands(Coefficient &node, const std::string &place, const List &list) const {
    const int wanted = node.operands();
    const uint64_t *a = list.size() > 1 ? list[1].as<uint64_t>() : nullptr;
    const uint64_t *b = list.size() > 2 ? list[2].as<uint64_t>() : nullptr;
    if (static_cast<int>(list.size()) != 1 + wanted || !a || (wanted == 2 && !b) ||
        *a >= QuadraticForm::kMostNodes || (b && *b >= QuadraticForm::kMostNodes))
      fail(place, "must have " + std::to_string(wanted) + " node" + (wanted == 1 ? "" : "s") +
                      " after its operation");
    node.a = static_cast<uint32_t>(*a);
    node.b = b ? static_cast<uint32_t>(*b) : 0;
  }

  EntryIndex indexOf(const std::string &place, const Value &value) const {
    if (const auto *text = value.as<std::string>()) {
      if (*text == "dim")
        return {EntryIndex::Kind::Dim};
      if (*text == "query")
        return {EntryIndex::Kind::Query};
      fail(place, "has index " + inQuotes(*text) + ", it must be one of dim, query");
    }
    const auto *number = value.as<uint64_t>();
    if (!number || *number > uint64_t(std::numeric_limits<int64_t>::max()))
      fail(place, "has an index that is neither a text nor a number");
    return {EntryIndex::Kind::Number, static_cast<int64_t>(*number)};
  }

  const Fail &callback;
};

} // namespace

static List listOf(const Quadratic &polynomial) {
  List list;
  for (uint32_t node : polynomial.of)
    list.push_back(node);
  return list;
}

/// Nothing where there are none.
static void setRoundings(Map &fields, const char *name, const Roundings &roundings) {
  Map map;
  if (roundings.f32)
    map["f32"] = roundings.f32;
  if (roundings.f64)
    map["f64"] = roundings.f64;
  if (!map.empty())
    fields[name] = std::move(map);
}

static const char *spellEta(double eta) { return eta == kEtaF32 ? "f32" : "f64"; }

static Map meansToFields(const Lengths::Means &means) {
  Map fields = {{"x", means.x}, {"y", means.y}};
  if (means.count != 0)
    fields["count"] = means.count;
  setRoundings(fields, "roundings", means.roundings);
  return fields;
}

static Map lengthsToFields(const Lengths &lengths) {
  Map fields = {{"product", lengths.product}, {"accumulations", lengths.accumulations}};
  for (const auto &[name, of] : kLengthPolynomials)
    fields[name] = listOf(lengths.*of);
  setRoundings(fields, "roundings", lengths.roundings);
  setRoundings(fields, "ratio", lengths.ratio);
  if (lengths.eta != 0)
    fields["eta"] = spellEta(lengths.eta);
  if (lengths.least != Lengths::kLeast)
    fields["least"] = static_cast<uint64_t>(-lengths.least);
  if (lengths.means)
    fields["means"] = meansToFields(*lengths.means);
  return fields;
}

QuadraticForm
formFromFields(const Value &fields,
               const std::function<void(const std::string &, const std::string &)> &fail) {
  return Reader(fail).read(fields);
}

Map formToFields(const QuadraticForm &form) {
  List nodes;
  for (const Coefficient &node : form.nodes) {
    if (node.kind == Kind::Number) {
      nodes.push_back(numberText(node.number));
      continue;
    }
    List list;
    if (node.kind == Kind::Entry) {
      list.push_back(node.capture);
      for (const EntryIndex &index : node.indices)
        list.push_back(index.kind == EntryIndex::Kind::Number
                           ? Value(static_cast<uint64_t>(index.number))
                           : Value(spellIndex(index)));
    }
    for (const auto &[kind, spelling] : kOps)
      if (node.kind == kind)
        list.push_back(spelling);
    if (node.operands() > 0)
      list.push_back(node.a);
    if (node.operands() > 1)
      list.push_back(node.b);
    nodes.push_back(std::move(list));
  }
  Map fields = {{"nodes", std::move(nodes)}, {"accumulations", form.accumulations}};
  for (const auto &[name, of] : kFormPolynomials)
    fields[name] = listOf(form.*of);
  // What most have is not said.
  if (form.ofDifference)
    fields["of_difference"] = true;
  setRoundings(fields, "roundings", form.roundings);
  if (form.eta != 0)
    fields["eta"] = spellEta(form.eta);
  if (form.initial != 0)
    fields["initial"] = numberText(form.initial);
  if (form.finalize != Finalize::Identity)
    fields["finalize"] = form.finalize == Finalize::Rises ? "rises" : "falls";
  if (form.lengths)
    fields["lengths"] = lengthsToFields(*form.lengths);
  return fields;
}

Map formToShow(const QuadraticForm &form) {
  Map fields = formToFields(form);
  fields["text"] = formText(form);
  Map coefficients;
  for (auto &[power, text] : polynomialTexts(form.nodes, form.exact))
    coefficients[power] = text;
  if (form.lengths)
    for (auto &[power, text] : polynomialTexts(form.nodes, form.lengths->exact))
      coefficients[power] = text;
  fields["coefficients"] = std::move(coefficients);
  return fields;
}

std::string formToJson(const QuadraticForm &form) { return toJson(formToShow(form)); }

} // namespace annudf
