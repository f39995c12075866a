//===- FormMeansTest.cpp - Forms of sums less their means -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

#include <set>

namespace annudf {
namespace {

using nlohmann::json;
using test::errorOf;
using Kind = Coefficient::Kind;
using Means = QuadraticForm::Lengths::Means;

/// A correlation of the sums of x, y, x², y² and x y, by 128 dims.
QuadraticForm correlation() {
  QuadraticForm form;
  for (double value : {0.0, 1.0, 2.0, 128.0})
    form.nodes.push_back({Kind::Number, value, 0, 0, {}, {}});
  form.exact.of = form.size.of = {0, 1, 0, 0, 0, 0};
  form.small.of = {0, 0, 0, 0, 0, 1};
  form.largest.of = {2, 2, 2, 2, 2, 1};
  form.eta = 0x1p-150;
  form.finalize = QuadraticForm::Finalize::Falls;
  QuadraticForm::Lengths lengths;
  lengths.product = 4;
  lengths.exact.of = lengths.size.of = {1, 0, 1, 0, 0, 0};
  lengths.small.of = {0, 0, 0, 0, 0, 2};
  lengths.eta = 0x1p-150;
  lengths.ratio.f32 = 3;
  lengths.means = Means{0, 1, 3, {0, 3, 0}};
  form.lengths = lengths;
  return form;
}

Artifact withMeans() {
  Artifact artifact = test::smallArtifact();
  artifact.manifest.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
  artifact.manifest.fields.assign(5, ANNUDF_ACCUMULATOR_F32);
  artifact.manifest.form = correlation();
  artifact.manifest.requiredFeatures = featuresOf(artifact.manifest);
  return artifact;
}

TEST(FormMeans, AreReadAsTheyWereWritten) {
  Artifact artifact = withMeans();
  std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.form, correlation());
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["form"]["lengths"]["means"],
            (json{{"x", 0}, {"y", 1}, {"count", 3}, {"roundings", {{"f32", 3}}}}));
  EXPECT_EQ(formText(artifact.manifest.form),
            "normalised: x y / sqrt(x^2 * y^2), less their means of 128, finalize falls");
  artifact.manifest.form->nodes.pop_back();
  artifact.manifest.form->lengths->means = Means{2, 3, 0, {0, 1, 2}};
  bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.form, artifact.manifest.form);
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["form"]["lengths"]["means"],
            (json{{"x", 2}, {"y", 3}, {"roundings", {{"f32", 1}, {"f64", 2}}}}));
  EXPECT_EQ(formText(artifact.manifest.form),
            "normalised: x y / sqrt(x^2 * y^2), less their means of dims, finalize falls");
}

TEST(FormMeans, AreReadStrictly) {
  const auto error = [](auto change) {
    json body = test::bodyOf(serializeArtifact(withMeans()));
    change(body["manifest"]["form"]["lengths"]["means"]);
    return errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
  };
  const std::string begin = "m: manifest field 'form.lengths.means";
  EXPECT_EQ(error([](json &) {}), "NO ERROR");
  EXPECT_EQ(error([](json &m) { m = 1; }), begin + "' must be a map");
  EXPECT_EQ(error([](json &m) { m["more"] = 1; }), begin + ".more' is unknown to this annudf");
  EXPECT_EQ(error([](json &m) { m.erase("x"); }), begin + ".x' is missing");
  EXPECT_EQ(error([](json &m) { m.erase("roundings"); }), begin + ".roundings' is missing");
  EXPECT_EQ(error([](json &m) { m["y"] = 6; }), begin + ".y' must be a number from 0 to 5");
  EXPECT_EQ(error([](json &m) { m["count"] = 0; }),
            begin + ".count' must be a number from 1 to 1023");
  EXPECT_EQ(error([](json &m) { m["roundings"]["f32"] = 65; }),
            begin + ".roundings.f32' must be a number from 1 to 64");
}

// A form of five sums is of five sums as they are.
TEST(FormMeans, GoWithTheirMetric) {
  const auto fault = [](auto change) {
    MetricDescriptor metric = withMeans().manifest;
    change(metric, *metric.form);
    return faultOf(metric);
  };
  const std::string begin = "manifest field 'form.lengths";
  EXPECT_EQ(fault([](auto &, auto &) {}), "");
  EXPECT_EQ(fault([](auto &m, auto &) { m.fields.pop_back(); }),
            begin + "' is of five sums in f32, but the accumulator is f32, f32, f32, f32");
  EXPECT_EQ(fault([](auto &, auto &f) {
              f.lengths->means.reset();
              f.nodes.pop_back();
            }),
            begin + "' is of three sums in f32, but the accumulator is f32, f32, f32, f32, f32");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->product = 5; }),
            begin + ".product' is field 5 of 5");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->means->x = 1; }),
            begin + ".means' has fields 1 and 1, beside 4 of 5");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->means->y = 4; }),
            begin + ".means' has fields 0 and 4, beside 4 of 5");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->means->roundings.f64 = 65; }),
            begin + ".means' says more roundings than it may have");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->means->count = 4; }),
            begin + ".means.count' names node 4 of 4");
  EXPECT_EQ(fault([](auto &, auto &f) { f.lengths->exact.of[Quadratic::YY] = 2; }),
            begin + ".means' is of sums whose coefficients are not all 1");
  EXPECT_EQ(fault([](auto &, auto &f) { f.size.of[Quadratic::XY] = 2; }),
            begin + ".means' is of sums whose coefficients are not all 1");
  EXPECT_EQ(fault([](auto &, auto &f) { f.nodes[3] = {Kind::Sum, 0, 1, 2, {}, {}}; }),
            begin + ".means.count' is neither a number nor an entry of a capture");
}

TEST(FormMeans, AreInTheContract) {
  std::set<uint64_t> seen{contractOf(withMeans().manifest)};
  for (void (*change)(Means &) : std::initializer_list<void (*)(Means &)>{
           [](auto &m) { m.x = 2; }, [](auto &m) { m.y = 2; }, [](auto &m) { m.count = 2; },
           [](auto &m) { m.roundings.f32 = 4; }, [](auto &m) { m.roundings.f64 = 1; }}) {
    MetricDescriptor other = withMeans().manifest;
    change(*other.form->lengths->means);
    EXPECT_TRUE(seen.insert(contractOf(other)).second);
  }
}

} // namespace
} // namespace annudf
