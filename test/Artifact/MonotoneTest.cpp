//===- MonotoneTest.cpp - What a manifest says of a distance --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

#include "gtest/gtest.h"

namespace annudf {
namespace {

using nlohmann::json;
using test::errorOf;

/// nlohmann would make a map of two texts.
json conditions(const std::vector<std::pair<std::string, std::string>> &pairs) {
  json all = json::array();
  for (const auto &[capture, relation] : pairs)
    all.push_back(json::array({capture, relation}));
  return all;
}

Artifact weighted() {
  Artifact artifact = test::smallArtifact();
  Manifest &m = artifact.manifest;
  m.captures = {{"v", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}},
                {"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}}};
  m.monotone = MonotoneDistance{
      {{"v", Condition::Kind::Positive}, {"w", Condition::Kind::NonNegative}}, false};
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  return artifact;
}

TEST(Monotone, IsReadAsItWasWritten) {
  const Artifact artifact = weighted();
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.monotone, artifact.manifest.monotone);
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["monotone"],
            (json{{"where", conditions({{"v", "> 0"}, {"w", ">= 0"}})}}));
  Artifact other = artifact;
  other.manifest.monotone = MonotoneDistance{{}, true};
  EXPECT_EQ(parseArtifact(serializeArtifact(other), "m").manifest.monotone,
            other.manifest.monotone);
  EXPECT_EQ(test::bodyOf(serializeArtifact(other))["manifest"]["monotone"],
            (json{{"where", json::array()}, {"extreme", true}}));
}

TEST(Monotone, IsInTheContract) {
  MetricDescriptor metric = weighted().manifest;
  const uint64_t with = contractOf(metric);
  const json contract = json::from_cbor(encodeContract(metric));
  EXPECT_EQ(
      contract.back(),
      (json::array({"monotone", json{{"where", conditions({{"v", "> 0"}, {"w", ">= 0"}})}}})));
  metric.monotone->where.pop_back();
  EXPECT_NE(contractOf(metric), with);
}

TEST(Monotone, InWords) {
  EXPECT_EQ(monotoneText(std::nullopt), "no");
  EXPECT_EQ(monotoneText(MonotoneDistance{}), "worse with each dimension");
  EXPECT_EQ(monotoneText(MonotoneDistance{{}, true}), "worse with each dimension, an extreme");
  EXPECT_EQ(monotoneText(MonotoneDistance{{{"w", Condition::Kind::NonPositive}}, false}),
            "worse with each dimension where w <= 0");
  EXPECT_NE(manifestToText(weighted(), "m")
                .find("\n  monotone      worse with each dimension where v > 0 and w >= 0\n"),
            std::string::npos);
}

TEST(Monotone, RefusesWhatItIsNot) {
  const std::string bytes = serializeArtifact(weighted());
  const auto refusal = [&](const auto &change) {
    json body = test::bodyOf(bytes);
    change(body["manifest"]);
    return errorOf([&] { parseArtifact(test::seal(body), "m"); }, ErrorKind::Input);
  };
  const auto saying = [&](const json &monotone) {
    return refusal([&](json &manifest) { manifest["monotone"] = monotone; });
  };
  const auto where = [&](const json &all) { return saying({{"where", all}}); };
  EXPECT_EQ(saying(true), "m: manifest field 'monotone' must be a map");
  EXPECT_EQ(saying(json::object()), "m: manifest field 'monotone.where' is missing");
  EXPECT_EQ(where("w"), "m: manifest field 'monotone.where' must be a list");
  for (const json &other : {json{{"where", json::array()}, {"from", 0}},
                            json{{"where", json::array()}, {"extreme", true}, {"from", 0}}})
    EXPECT_EQ(saying(other), "m: manifest field 'monotone' has a field besides 'where' and "
                             "'extreme', which is none that this annudf knows");
  for (const json &wrong : {json(false), json(1)})
    EXPECT_EQ(saying({{"where", json::array()}, {"extreme", wrong}}),
              "m: manifest field 'monotone.extreme' must be true; of a sum there is no such field");
  const std::string one = "m: manifest field 'monotone.where[0]' must be the name of a capture and "
                          "one of '>= 0', '<= 0', '> 0'";
  for (const json &wrong : {json("w"), json::array(), json{"w"}, json{"w", "< 0"}, json{"w", 0},
                            json{0, ">= 0"}, json{"w", ">= 0", ">= 0"}})
    EXPECT_EQ(where(json::array({wrong})), one) << wrong;
  EXPECT_EQ(where(conditions({{"x", ">= 0"}})),
            "m: manifest field 'monotone' asks something of capture 'x', "
            "which the metric does not have");
  EXPECT_EQ(where(conditions({{"w", ">= 0"}, {"v", "> 0"}})),
            "m: manifest field 'monotone' asks something of capture 'v' out of order");
  EXPECT_EQ(where(conditions({{"w", ">= 0"}, {"w", ">= 0"}})),
            "m: manifest field 'monotone' asks something of capture 'w' twice");
  EXPECT_EQ(refusal([](json &manifest) {
              manifest["accumulator"] = "struct";
              manifest["fields"] = {"f32", "f32"};
            }),
            "m: manifest field 'monotone' stands beside an accumulator of several fields");
}

} // namespace
} // namespace annudf
