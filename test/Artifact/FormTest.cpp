//===- FormTest.cpp - Forms in manifests ----------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

#include <cmath>
#include <random>
#include <set>

namespace annudf {
namespace {

using nlohmann::json;
using test::errorOf;
using Kind = Coefficient::Kind;

Coefficient number(double value) { return {Kind::Number, value, 0, 0, {}, {}}; }
Coefficient entry(std::string capture, std::vector<EntryIndex> indices) {
  return {Kind::Entry, 0, 0, 0, std::move(capture), std::move(indices)};
}
Coefficient op(Kind kind, uint32_t a, uint32_t b = 0) { return {kind, 0, a, b, {}, {}}; }

/// Weighted L2: w[dim] (x - y)^2, then a square root.
QuadraticForm weighted() {
  QuadraticForm form;
  form.nodes = {number(0),
                entry("w", {{EntryIndex::Kind::Dim}}),
                op(Kind::Absolute, 1),
                number(2),
                op(Kind::Product, 3, 1),
                op(Kind::Negated, 4)};
  form.exact.of = {1, 5, 1, 0, 0, 0};
  form.ofDifference = true;
  form.size.of = {2, 0, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, 0, 0, 2};
  form.largest.of = {2, 0, 0, 3, 0, 2};
  form.roundings.f32 = 4;
  form.eta = 0x1p-150;
  form.finalize = QuadraticForm::Finalize::Rises;
  return form;
}

Artifact withForm() {
  Artifact artifact = test::smallArtifact();
  artifact.manifest.form = weighted();
  return artifact;
}

/// How manifests have it.
json fields() {
  return {
      {"nodes", {"0", {"w", "dim"}, {"|", 1}, "2", {"*", 3, 1}, {"-", 4}}},
      {"exact", {1, 5, 1, 0, 0, 0}},
      {"of_difference", true},
      {"size", {2, 0, 0, 0, 0, 0}},
      {"small", {0, 0, 0, 0, 0, 2}},
      {"largest", {2, 0, 0, 3, 0, 2}},
      {"roundings", {{"f32", 4}}},
      {"accumulations", 1},
      {"eta", "f32"},
      {"finalize", "rises"},
  };
}

TEST(Form, IsReadAsItWasWritten) {
  const Artifact artifact = withForm();
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.form, artifact.manifest.form);
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["form"], fields());

  Artifact other = artifact;
  QuadraticForm &form = *other.manifest.form;
  form.nodes[1] = entry("m", {{EntryIndex::Kind::Number, 15}, {EntryIndex::Kind::Dim}});
  form.nodes[3] = number(-0.1);
  form.nodes[4] = op(Kind::Quotient, 3, 1);
  form.nodes[5] = op(Kind::Sum, 4, 1);
  form.largest = form.size;
  form.roundings = {0, 1000, 7};
  form.accumulations = 4096;
  form.eta = 0x1p-1074;
  form.initial = -1e10f;
  form.finalize = QuadraticForm::Finalize::Falls;
  EXPECT_EQ(parseArtifact(serializeArtifact(other), "m").manifest.form, form);
  form.eta = 0, form.roundings = {}, form.finalize = QuadraticForm::Finalize::Identity;
  EXPECT_EQ(parseArtifact(serializeArtifact(other), "m").manifest.form, form);
}

TEST(Form, InWords) {
  QuadraticForm form = weighted();
  EXPECT_EQ(formText(form), "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y, finalize rises");
  EXPECT_EQ(formText(std::nullopt), "no");
  form.ofDifference = false;
  form.initial = 0.5;
  form.finalize = QuadraticForm::Finalize::Falls;
  EXPECT_EQ(formText(form),
            "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, begins with 0.5, finalize falls");
  EXPECT_TRUE(manifestToText(withForm(), "m")
                  .find("\n  form          w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y, "
                        "finalize rises\n") != std::string::npos);
}

/// Cosine with weights: the first of three fields is the product.
QuadraticForm normalised() {
  QuadraticForm form;
  form.nodes = {number(0), entry("w", {{EntryIndex::Kind::Dim}}), op(Kind::Absolute, 1), number(2)};
  form.exact.of = {0, 1, 0, 0, 0, 0};
  form.size.of = {0, 2, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, 0, 3, 2};
  form.largest.of = {3, 2, 3, 0, 0, 2};
  form.roundings.f32 = 2;
  form.eta = 0x1p-150;
  form.finalize = QuadraticForm::Finalize::Falls;
  QuadraticForm::Lengths lengths;
  lengths.exact.of = {1, 0, 1, 0, 0, 0};
  lengths.size.of = {2, 0, 2, 0, 0, 0};
  lengths.small.of = {0, 0, 0, 3, 3, 2};
  lengths.roundings.f32 = 2;
  lengths.eta = 0x1p-150;
  lengths.ratio.f32 = 4;
  form.lengths = lengths;
  return form;
}

Artifact withLengths() {
  Artifact artifact = withForm();
  artifact.manifest.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
  artifact.manifest.fields.assign(3, ANNUDF_ACCUMULATOR_F32);
  artifact.manifest.form = normalised();
  artifact.manifest.requiredFeatures = featuresOf(artifact.manifest);
  return artifact;
}

json lengthFields() {
  return {{"product", 0},
          {"exact", {1, 0, 1, 0, 0, 0}},
          {"size", {2, 0, 2, 0, 0, 0}},
          {"small", {0, 0, 0, 3, 3, 2}},
          {"roundings", {{"f32", 2}}},
          {"accumulations", 1},
          {"eta", "f32"},
          {"ratio", {{"f32", 4}}}};
}

/// The error of a well-sealed artifact whose form was changed by `change`.
template <typename Change>
std::string errorWith(Change change, const Artifact &artifact = withForm()) {
  json body = test::bodyOf(serializeArtifact(artifact));
  change(body["manifest"]["form"]);
  const std::string text = errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
  const std::string begin = "m: manifest field 'form";
  return text.rfind(begin, 0) == 0 ? text.substr(begin.size()) : text;
}

TEST(Form, AsJsonForPeople) {
  json expected = fields();
  expected["text"] = "w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y, finalize rises";
  expected["coefficients"] = {{"x^2", "w[dim]"}, {"x y", "-2 w[dim]"}, {"y^2", "w[dim]"}};
  EXPECT_EQ(json::parse(formToJson(weighted())), expected);
  EXPECT_EQ(json::parse(manifestToJson(withForm()))["form"], expected);
  QuadraticForm other = weighted();
  other.exact.of = {0, 0, 0, 0, 0, 3};
  const std::vector<std::pair<std::string, std::string>> constant = {{"1", "2"}};
  EXPECT_EQ(polynomialTexts(other.nodes, other.exact), constant);
}

TEST(Form, IsReadStrictly) {
  EXPECT_EQ(errorWith([](json &) {}), "NO ERROR");
  EXPECT_EQ(errorWith([](json &f) { f = 7; }), "' must be a map");
  EXPECT_EQ(errorWith([](json &f) { f["more"] = 1; }), ".more' is unknown to this annudf");
  EXPECT_EQ(errorWith([](json &f) { f.erase("largest"); }), ".largest' is missing");
  EXPECT_EQ(errorWith([](json &f) { f.erase("nodes"); }), ".nodes' is missing");
  EXPECT_EQ(errorWith([](json &f) { f["exact"].push_back(0); }),
            ".exact' must be a list of 6 nodes");
  EXPECT_EQ(errorWith([](json &f) { f["exact"][0] = 1024; }), ".exact' must be a list of 6 nodes");
  EXPECT_EQ(errorWith([](json &f) { f["size"][0] = "2"; }), ".size' must be a list of 6 nodes");
  EXPECT_EQ(errorWith([](json &f) { f["of_difference"] = false; }),
            ".of_difference' must be true; a form of x and y has no such field");
  EXPECT_EQ(errorWith([](json &f) { f["roundings"] = json::object(); }),
            ".roundings' must be a map of formats");
  EXPECT_EQ(errorWith([](json &f) { f["roundings"]["f16"] = 1; }),
            ".roundings' names 'f16', it must be one of f32, f64");
  EXPECT_EQ(errorWith([](json &f) { f["roundings"]["f64"] = 1001; }),
            ".roundings.f64' must be a number from 1 to 1000");
  EXPECT_EQ(errorWith([](json &f) { f["accumulations"] = 0; }),
            ".accumulations' must be a number from 1 to 4096");
  EXPECT_EQ(errorWith([](json &f) { f["eta"] = "f16"; }), ".eta' must be one of f32, f64");
  EXPECT_EQ(errorWith([](json &f) { f["initial"] = "0"; }),
            ".initial' is 0, which a form has without saying so");
  EXPECT_EQ(errorWith([](json &f) { f["finalize"] = "identity"; }),
            ".finalize' must be one of rises, falls");
  EXPECT_EQ(errorWith([](json &f) { f["nodes"] = "0"; }), ".nodes' must be a list");
  EXPECT_EQ(errorWith([](json &f) { f["nodes"] = std::vector<std::string>(1025, "0"); }),
            ".nodes' has 1025 nodes; it must have at most 1024");
  const auto node = [](const json &value) {
    return errorWith([&](json &f) { f["nodes"][3] = value; });
  };
  for (const char *text : {"2.0", "02", "+2", "inf", "nan", "", " 2", "2 ", "-0.10", "-0", "1e400"})
    EXPECT_EQ(node(text), std::string(".nodes[3]' is '") + text +
                              "', which is no finite number in its shortest form");
  EXPECT_EQ(node(2), ".nodes[3]' must be a number as text");
  EXPECT_EQ(node(json::array()), ".nodes[3]' must begin with an operation or a capture");
  EXPECT_EQ(node({1, "w"}), ".nodes[3]' must begin with an operation or a capture");
  EXPECT_EQ(node({"+", 1}), ".nodes[3]' must have 2 nodes after its operation");
  EXPECT_EQ(node({"|", 1, 2}), ".nodes[3]' must have 1 node after its operation");
  EXPECT_EQ(node({"-", 1024}), ".nodes[3]' must have 1 node after its operation");
  EXPECT_EQ(node({"w", "row"}), ".nodes[3]' has index 'row', it must be one of dim, query");
  EXPECT_EQ(node({"w", -1}), ".nodes[3]' has an index that is neither a text nor a number");
}

TEST(Form, IsOfItsMetric) {
  const auto node = [](const json &value) {
    return errorWith([&](json &f) { f["nodes"][3] = value; });
  };
  EXPECT_EQ(node({"v", "dim"}), ".nodes[3]' names 'v', which is no capture");
  EXPECT_EQ(node({"w"}), ".nodes[3]' has 0 indices of capture 'w', which is dim x f32");
  EXPECT_EQ(node({"w", "query"}), ".nodes[3]' has index query of capture 'w', which is dim x f32");
  EXPECT_EQ(node({"w", 1}), ".nodes[3]' has index 1 of capture 'w', which is dim x f32");
  EXPECT_EQ(node({"m", 16, "dim"}),
            ".nodes[3]' has index 16 of capture 'm', which is 16 x dim x f64");
  EXPECT_EQ(node({"m", "dim", "dim"}),
            ".nodes[3]' has index dim of capture 'm', which is 16 x dim x f64");
  EXPECT_EQ(node({"+", 3, 1}), ".nodes[3]' uses node 3, which does not stand before it");
  EXPECT_EQ(node({"+", 1, 4}), ".nodes[3]' uses node 4, which does not stand before it");
  EXPECT_EQ(node("-2"), ".largest' names node 3, which may be negative");
  EXPECT_EQ(node({"w", "dim"}), ".largest' names node 3, which may be negative");
  EXPECT_EQ(errorWith([](json &f) { f["nodes"][0] = "1"; }), ".nodes' does not begin with 0");
  EXPECT_EQ(errorWith([](json &f) { f["nodes"] = json::array(); }),
            ".nodes' does not begin with 0");
  EXPECT_EQ(errorWith([](json &f) { f["small"][5] = 6; }), ".small' names node 6 of 6");
  EXPECT_EQ(errorWith([](json &f) { f["small"][5] = 1; }),
            ".small' names node 1, which may be negative");
  EXPECT_EQ(errorWith([](json &f) { f["size"][1] = 2; }), ".size' is not of x - y alone");
  EXPECT_EQ(errorWith([](json &f) { f["nodes"].push_back("7"); }), ".nodes[6]' is used by nothing");
  EXPECT_EQ(errorWith([](json &f) { f["initial"] = "0.1"; }), ".initial' is 0.1, which is no f32");

  MetricDescriptor metric = withForm().manifest;
  EXPECT_EQ(faultOf(metric), "");
  const auto fault = [&](auto change) {
    MetricDescriptor other = metric;
    change(other);
    return faultOf(other);
  };
  EXPECT_EQ(fault([](auto &m) { m.accumulator = ANNUDF_ACCUMULATOR_F64; }),
            "manifest field 'form' is of a sum in f32, but the accumulator is f64");
  EXPECT_EQ(fault([](auto &m) {
              m.elements = {ANNUDF_ELEMENT_U8};
              m.compute = ANNUDF_COMPUTE_I32;
            }),
            "manifest field 'form' is of floats, but the compute type is i32");
  EXPECT_EQ(fault([](auto &m) { m.missingValues = true; }),
            "manifest field 'form' is of every coordinate, but field 'missing_values' is true");
  EXPECT_EQ(fault([](auto &m) { m.hooks.pop_back(); }),
            "manifest field 'form.finalize' says what field 'hooks' lacks");
  EXPECT_EQ(fault([](auto &m) {
              m.numerics = ANNUDF_NUMERICS_REASSOCIATE;
              m.hooks.push_back(ANNUDF_HOOK_COMBINE);
              m.form->initial = 1;
            }),
            "manifest field 'form.initial' is 1, but parts that combine joins begin with 0");
  EXPECT_EQ(fault([](auto &m) { m.form->roundings.f16 = 1; }),
            "manifest field 'form' says more roundings than a form may have");
  EXPECT_EQ(fault([](auto &m) { m.form->eta = 1; }),
            "manifest field 'form.eta' is half the smallest number of no format");
  EXPECT_EQ(fault([](auto &m) { m.form->nodes[3].number = INFINITY; }),
            "manifest field 'form.nodes[3]' is no finite number");
  // With fixed dims an entry at dim may have a constant extent, and be a number at dim.
  metric.dims = 16;
  EXPECT_EQ(fault([](auto &m) { m.form->nodes[3] = entry("m", {{}, {}}); }),
            "manifest field 'form.largest' names node 3, which may be negative");
  EXPECT_EQ(fault([](auto &m) { m.form->nodes[1] = entry("w", {{EntryIndex::Kind::Number, 15}}); }),
            "");
}

/// Every place of a JSON value.
void collect(json &value, std::vector<json *> &places) {
  places.push_back(&value);
  for (auto &inner : value)
    if (value.is_structured())
      collect(inner, places);
}

void damage(const Artifact &artifact, int least) {
  std::mt19937 generator(1);
  const auto random = [&](size_t below) { return generator() % below; };
  const json body = test::bodyOf(serializeArtifact(artifact));
  const json kValues[] = {0,           1,          2,        5,       1023,        1024,
                          4294967296u, -1,         true,     "0",     "-0",        "1e30",
                          "w",         "m",        "dim",    "query", "-",         "|",
                          "+",         "*",        "/",      "f64",   "falls",     json(),
                          {},          "2",        {"w", 0}, {"-"},   {"+", 1, 2}, {"m", 3, "dim"},
                          {"|", 3},    {"/", 2, 2}};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    json changed = body;
    for (size_t times = 1 + random(3); times > 0; --times) {
      std::vector<json *> places;
      collect(changed["manifest"]["form"], places);
      json &place = *places[random(places.size())];
      if (place.is_array() && random(3) == 0)
        place.push_back(kValues[random(std::size(kValues))]);
      else if (place.is_structured() && !place.empty() && random(3) == 0)
        place.erase(std::next(place.begin(), static_cast<long>(random(place.size()))));
      else
        place =
            random(4) ? kValues[random(std::size(kValues))] : json(*places[random(places.size())]);
    }
    try {
      const Artifact read = parseArtifact(test::seal(changed), "m");
      EXPECT_EQ(faultOf(read.manifest), "");
      EXPECT_EQ(test::bodyOf(serializeArtifact(read))["manifest"]["form"],
                changed["manifest"]["form"]);
      EXPECT_FALSE(formText(read.manifest.form).empty());
      ++accepted;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input);
      ++refused;
    }
  }
  EXPECT_GT(accepted, least);
  EXPECT_GT(refused, 2000);
}

// What is read is right, whatever was written: refused, or a form that is written as it was read.
TEST(Form, DamagedInAnyWay) {
  damage(withForm(), 100);
  damage(withLengths(), 40);
}

TEST(Form, LengthsAreReadAsTheyWereWritten) {
  Artifact artifact = withLengths();
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.form, normalised());
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["form"]["lengths"], lengthFields());
  QuadraticForm &form = *artifact.manifest.form;
  form.lengths->product = 2, form.lengths->least = -7, form.lengths->eta = 0;
  form.lengths->roundings = {0, 0, 3}, form.lengths->ratio = {0, 1, 3};
  form.lengths->accumulations = 2;
  EXPECT_EQ(parseArtifact(serializeArtifact(artifact), "m").manifest.form, form);
  EXPECT_EQ(formText(form),
            "normalised: w[dim] x y / sqrt(w[dim] x^2 * w[dim] y^2), finalize falls");
  EXPECT_EQ(json::parse(formToJson(form))["coefficients"],
            (json{{"x y", "w[dim]"}, {"x^2", "w[dim]"}, {"y^2", "w[dim]"}}));
}

TEST(Form, LengthsAreReadStrictly) {
  const auto error = [](auto change) {
    return errorWith([&](json &f) { change(f["lengths"]); }, withLengths());
  };
  EXPECT_EQ(error([](json &) {}), "NO ERROR");
  EXPECT_EQ(error([](json &l) { l = 1; }), ".lengths' must be a map");
  EXPECT_EQ(error([](json &l) { l["more"] = 1; }), ".lengths.more' is unknown to this annudf");
  EXPECT_EQ(error([](json &l) { l.erase("ratio"); }), ".lengths.ratio' is missing");
  EXPECT_EQ(error([](json &l) { l["product"] = 6; }),
            ".lengths.product' must be a number from 0 to 5");
  EXPECT_EQ(error([](json &l) { l["least"] = 61; }),
            ".lengths.least' must be a number from 1 to 60");
  EXPECT_EQ(error([](json &l) { l["least"] = 1; }),
            ".lengths.least' is 1, which is not from 2 to 60");
  EXPECT_EQ(error([](json &l) { l["eta"] = "f16"; }), ".lengths.eta' must be one of f32, f64");
  EXPECT_EQ(error([](json &l) { l["ratio"]["f32"] = 65; }),
            ".lengths.ratio.f32' must be a number from 1 to 64");
  EXPECT_EQ(error([](json &l) { l["exact"][1] = 1; }),
            ".lengths.exact' is not of x^2 and y^2 alone");
  EXPECT_EQ(error([](json &l) { l["size"][2] = 0; }), ".lengths.size' is not of x^2 and y^2 alone");
  EXPECT_EQ(error([](json &l) { l["small"][0] = 9; }), ".lengths.small' names node 9 of 4");
  EXPECT_EQ(error([](json &l) { l["size"][0] = 1; }),
            ".lengths.size' names node 1, which may be negative");
}

// A form of three sums is of three sums, of a product and of squares.
TEST(Form, LengthsGoWithTheirMetric) {
  const auto fault = [](auto change) {
    MetricDescriptor metric = withLengths().manifest;
    change(metric);
    return faultOf(metric);
  };
  EXPECT_EQ(fault([](auto &) {}), "");
  EXPECT_EQ(
      fault([](auto &m) { m.fields[1] = ANNUDF_ACCUMULATOR_U32; }),
      "manifest field 'form.lengths' is of three sums in f32, but the accumulator is f32, u32, "
      "f32");
  EXPECT_EQ(
      fault([](auto &m) { m.fields.pop_back(); }),
      "manifest field 'form.lengths' is of three sums in f32, but the accumulator is f32, f32");
  EXPECT_EQ(fault([](auto &m) { m.form->lengths.reset(); }),
            "manifest field 'form' is of a sum in f32, but the accumulator is struct");
  EXPECT_EQ(fault([](auto &m) { m.form->initial = 1; }),
            "manifest field 'form.lengths' is of sums of x and y that begin with 0");
  EXPECT_EQ(fault([](auto &m) { m.form->exact.of[Quadratic::X] = 1; }),
            "manifest field 'form.exact' is not of x y alone, as 'form.lengths' asks");
  EXPECT_EQ(fault([](auto &m) { m.form->size.of[Quadratic::XY] = 0; }),
            "manifest field 'form.size' is not of x y alone, as 'form.lengths' asks");
  EXPECT_EQ(fault([](auto &m) { m.form->lengths->product = 3; }),
            "manifest field 'form.lengths.product' is field 3 of 3");
  EXPECT_EQ(fault([](auto &m) { m.form->lengths->roundings.f16 = 1; }),
            "manifest field 'form.lengths' says more roundings than it may have");
  EXPECT_EQ(fault([](auto &m) { m.form->lengths->ratio.f64 = 65; }),
            "manifest field 'form.lengths' says more roundings than it may have");
  EXPECT_EQ(fault([](auto &m) { m.form->lengths->eta = 1; }),
            "manifest field 'form.lengths.eta' is half the smallest number of no format");
}

// As an artifact with a false form is found: its code was made for another.
TEST(Form, IsInTheContract) {
  const MetricDescriptor metric = withForm().manifest;
  std::set<uint64_t> seen{contractOf(metric), contractOf(test::smallArtifact().manifest)};
  EXPECT_EQ(seen.size(), 2u);
  const auto contract = json::from_cbor(encodeContract(metric));
  EXPECT_EQ(contract.back(), (json{"form", fields()}));
  for (void (*change)(QuadraticForm &) : std::initializer_list<void (*)(QuadraticForm &)>{
           [](auto &f) { f.nodes[1].indices[0] = {EntryIndex::Kind::Query}; },
           [](auto &f) { f.nodes[1].capture = "v"; }, [](auto &f) { f.nodes[3].number = 3; },
           [](auto &f) { f.exact.of[4] = 1; }, [](auto &f) { f.size.of[4] = 1; },
           [](auto &f) { f.small.of[4] = 1; }, [](auto &f) { f.largest.of[4] = 1; },
           [](auto &f) { f.ofDifference = false; }, [](auto &f) { f.roundings.f32 = 3; },
           [](auto &f) { f.roundings.f64 = 3; }, [](auto &f) { f.accumulations = 2; },
           [](auto &f) { f.eta = 0; }, [](auto &f) { f.initial = 1; },
           [](auto &f) { f.finalize = QuadraticForm::Finalize::Falls; },
           [](auto &f) { f.finalize = QuadraticForm::Finalize::Identity; }}) {
    MetricDescriptor other = metric;
    change(*other.form);
    EXPECT_TRUE(seen.insert(contractOf(other)).second);
  }
  using Lengths = QuadraticForm::Lengths;
  for (void (*change)(Lengths &) : std::initializer_list<void (*)(Lengths &)>{
           [](auto &) {}, [](auto &l) { l.product = 1; }, [](auto &l) { l.exact.of[0] = 2; },
           [](auto &l) { l.size.of[0] = 3; }, [](auto &l) { l.small.of[0] = 3; },
           [](auto &l) { l.roundings.f32 = 3; }, [](auto &l) { l.accumulations = 2; },
           [](auto &l) { l.eta = 0; }, [](auto &l) { l.ratio.f64 = 1; },
           [](auto &l) { l.least = -8; }}) {
    MetricDescriptor other = withLengths().manifest;
    change(*other.form->lengths);
    EXPECT_TRUE(seen.insert(contractOf(other)).second);
  }
}

} // namespace
} // namespace annudf
