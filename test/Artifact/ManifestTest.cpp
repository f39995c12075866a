//===- ManifestTest.cpp - The manifest: versions, features, fields *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

namespace annudf {
namespace {

using nlohmann::json;
using test::contains;
using test::errorOf;

/// The error of a well-sealed artifact whose manifest was changed by `change`.
template <typename Change> std::string errorWith(Change change) {
  json body = test::bodyOf(serializeArtifact(test::smallArtifact()));
  change(body["manifest"]);
  return errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
}

TEST(Manifest, VersionGrid) {
  struct {
    const char *id;
    uint64_t major, minor;
    const char *error;
  } const grid[] = {
      {"annudf.accumulator.v1", 1, 0, "NO ERROR"},
      {"annudf.accumulator.v1", 1, 1,
       "m: needs annudf.accumulator.v1 1.1, this annudf accepts up to 1.0"},
      {"annudf.accumulator.v1", 2, 0,
       "m: needs annudf.accumulator.v1 2.0, this annudf accepts annudf.accumulator.v1 1.0"},
      {"annudf.accumulator.v1", 0, 9,
       "m: needs annudf.accumulator.v1 0.9, this annudf accepts annudf.accumulator.v1 1.0"},
      {"annudf.pairwise.v2", 2, 0,
       "m: needs ABI 'annudf.pairwise.v2' 2.0, this annudf accepts annudf.accumulator.v1 1.0"},
      {"two lines", 1, 0,
       "m: needs ABI 'two lines' 1.0, this annudf accepts annudf.accumulator.v1 1.0"},
  };
  for (const auto &row : grid)
    EXPECT_EQ(errorWith([&](json &m) {
                m["abi"] = {{"id", row.id}, {"major", row.major}, {"minor", row.minor}};
              }),
              row.error);
}

// Another ABI is told as such even if its manifest has other fields.
TEST(Manifest, VersionComesFirst) {
  EXPECT_TRUE(contains(errorWith([](json &m) {
                         const json abi = {
                             {"id", "annudf.accumulator.v1"}, {"major", 1}, {"minor", 9}};
                         m = {{"abi", abi}};
                       }),
                       "needs annudf.accumulator.v1 1.9"));
}

TEST(Manifest, PackedSums) {
  Artifact artifact = test::smallArtifact();
  artifact.manifest.packed = PackedSum{ANNUDF_PACKED_PRODUCT, true, {{ANNUDF_ELEMENT_U8, 258}}};
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest.packed, artifact.manifest.packed);
  const json packed = {{"term", "product"}, {"negated", true}, {"dims", {{"u8", 258}}}};
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["packed"], packed);
  const auto refusal = [&](auto change) {
    return errorWith([&](json &m) {
      m["packed"] = packed;
      change(m["packed"]);
    });
  };
  EXPECT_EQ(refusal([](json &) {}), "NO ERROR");
  EXPECT_EQ(refusal([](json &p) { p["term"] = "cube"; }),
            "m: manifest field 'packed.term' is 'cube', it must be one of absolute_difference, "
            "squared_difference, product, different, different_bits");
  EXPECT_EQ(
      refusal([](json &p) { p["negated"] = false; }),
      "m: manifest field 'packed.negated' must be true; a sum that is added has no such field");
  EXPECT_EQ(refusal([](json &p) { p["more"] = 1; }),
            "m: manifest field 'packed.more' is unknown to this annudf");
  EXPECT_EQ(refusal([](json &p) { p["dims"]["u4"] = 1; }),
            "m: manifest field 'packed.dims' names an element type that is 'u4', it must be one of "
            "f32, f16, i8, u8, bf16, bits");
  EXPECT_EQ(refusal([](json &p) { p["dims"]["u8"] = 1048577; }),
            "m: manifest field 'packed.dims.u8' is 1048577; it must be at most 1048576");
  EXPECT_EQ(refusal([](json &p) { p["dims"]["i8"] = 9; }),
            "m: manifest field 'packed' names i8, which field 'elements' does not");
  EXPECT_EQ(refusal([](json &p) { p = 7; }), "m: manifest field 'packed' must be a map");
}

TEST(Manifest, FeatureGrid) {
  struct {
    uint64_t features;
    const char *accumulator;
    bool captures;
    const char *error;
  } const grid[] = {
      {3, "f32", true, "NO ERROR"},
      {3, "u32", true, "NO ERROR"},
      {7, "f64", true, "NO ERROR"},
      {1, "i32", false, "NO ERROR"},
      {3 | 8, "f32", true, "m: needs feature bits 0x8, this annudf knows 0xf7"},
      {uint64_t(1) << 63, "f32", true,
       "m: needs feature bits 0x8000000000000000, this annudf knows 0xf7"},
      {3, "f64", true, "m: says feature bits 0x3, its metric needs 0x7"},
      {7, "f32", true, "m: says feature bits 0x7, its metric needs 0x3"},
      {1, "f32", true, "m: says feature bits 0x1, its metric needs 0x3"},
      {2, "f32", true, "m: says feature bits 0x2, its metric needs 0x3"},
      {3, "f32", false, "m: says feature bits 0x3, its metric needs 0x1"},
  };
  for (const auto &row : grid)
    EXPECT_EQ(errorWith([&](json &m) {
                m["features"] = row.features;
                m["accumulator"] = row.accumulator;
                if (!row.captures)
                  m["captures"] = json::array();
              }),
              row.error);
}

TEST(Manifest, EveryFieldMissingOrOfAnotherType) {
  const json whole = test::bodyOf(serializeArtifact(test::smallArtifact()))["manifest"];
  for (const auto &[field, value] : whole.items()) {
    if (field != "verified") {
      EXPECT_EQ(errorWith([&](json &m) { m.erase(field); }),
                "m: manifest field '" + field + "' is missing");
    }
    const json wrong = value.is_number() ? json("text") : json(7);
    EXPECT_TRUE(contains(errorWith([&](json &m) { m[field] = wrong; }),
                         "m: manifest field '" + field + "' must be "))
        << field;
    if (value.is_object())
      for (const auto &[inner, unused] : value.items()) {
        EXPECT_EQ(errorWith([&](json &m) { m[field].erase(inner); }),
                  "m: manifest field '" + field + "." + inner + "' is missing");
        EXPECT_TRUE(contains(errorWith([&](json &m) { m[field][inner] = json::array(); }),
                             "m: manifest field '" + field + "." + inner + "' must be "));
      }
  }
  for (const auto &[field, unused] : whole["payloads"][0].items())
    EXPECT_EQ(errorWith([&](json &m) { m["payloads"][0].erase(field); }),
              "m: manifest field 'payloads[0]." + field + "' is missing");
  for (const auto &[field, unused] : whole["captures"][1].items())
    EXPECT_EQ(errorWith([&](json &m) { m["captures"][1].erase(field); }),
              "m: manifest field 'captures[1]." + field + "' is missing");
}

// An accumulator of several words; one of a single word has no such field.
TEST(Manifest, FieldsOfAnAccumulator) {
  Artifact artifact = test::smallArtifact();
  Manifest &m = artifact.manifest;
  EXPECT_FALSE(test::bodyOf(serializeArtifact(artifact))["manifest"].contains("fields"));
  m.accumulator = ANNUDF_ACCUMULATOR_STRUCT;
  m.fields = {ANNUDF_ACCUMULATOR_F32, ANNUDF_ACCUMULATOR_U32, ANNUDF_ACCUMULATOR_I64};
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest, m);
  const json manifest = test::bodyOf(bytes)["manifest"];
  EXPECT_EQ(manifest["accumulator"], "struct");
  EXPECT_EQ(manifest["fields"], json({"f32", "u32", "i64"}));
  EXPECT_TRUE(contains(manifestToText(artifact, "m"), "accumulator   f32, u32, i64\n"));
  EXPECT_TRUE(
      contains(manifestToText(artifact, "m"), "features      finalize, captures, acc64, struct\n"));
  const auto refusal = [&](auto change) {
    json body = test::bodyOf(bytes);
    change(body["manifest"]);
    return errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
  };
  EXPECT_EQ(refusal([](json &m) { m.erase("fields"); }),
            "m: manifest field 'fields' has 0, a struct has 2 to 6");
  EXPECT_EQ(refusal([](json &m) { m["fields"] = json::array(); }),
            "m: manifest field 'fields' is empty; an accumulator of one word has no such field");
  EXPECT_EQ(refusal([](json &m) { m["fields"] = "f32"; }),
            "m: manifest field 'fields' must be a list");
  EXPECT_EQ(
      refusal([](json &m) { m["fields"][0] = "f16"; }),
      "m: manifest field 'fields' is 'f16', it must be one of f32, f64, i32, u32, i64, struct");
  EXPECT_EQ(refusal([](json &m) { m["fields"][0] = "struct"; }),
            "m: manifest field 'fields' holds what no field can be");
  EXPECT_EQ(refusal([](json &m) { m["features"] = 7; }),
            "m: says feature bits 0x7, its metric needs 0x47");
  EXPECT_EQ(refusal([](json &m) { m["accumulator"] = "f32"; }),
            "m: manifest field 'fields' has 3, but the accumulator is f32");
}

// That of whole vectors says the role and its scratch, and nothing of hooks.
TEST(Manifest, ADistanceOfWholeVectors) {
  Artifact artifact = test::smallArtifact();
  MetricDescriptor metric;
  metric.role = ANNUDF_ROLE_PAIRWISE;
  metric.name = "warped";
  metric.elements = {ANNUDF_ELEMENT_F32};
  metric.scratchBytes = 8, metric.scratchPerDim = 16;
  Manifest &m = artifact.manifest;
  static_cast<MetricDescriptor &>(m) = metric;
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest, m);
  const json manifest = test::bodyOf(bytes)["manifest"];
  EXPECT_EQ(manifest["role"], "pairwise");
  EXPECT_EQ(manifest["scratch"], (json{{"bytes", 8}, {"per_dim", 16}}));
  for (const char *field : {"accumulator", "hooks", "fields", "packed", "form"})
    EXPECT_FALSE(manifest.contains(field)) << field;
  const std::string text = manifestToText(artifact, "m");
  for (const char *part :
       {"metric warped (m)\n", "features      pairwise\n", "compute type  f32\n",
        "hooks         distance of whole vectors\n", "scratch       8 bytes and 16 a dimension\n"})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(contains(text, "\n  accumulator"));
  const auto refusal = [&](auto change) {
    json body = test::bodyOf(bytes);
    change(body["manifest"]);
    return errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
  };
  EXPECT_EQ(refusal([](json &m) { m["hooks"] = json::array(); }),
            "m: manifest field 'hooks' is unknown to this annudf");
  EXPECT_EQ(refusal([](json &m) { m["scratch"]["bytes"] = m["scratch"]["per_dim"] = 0; }),
            "m: manifest field 'scratch' is empty; a distance without scratch has no such field");
  EXPECT_EQ(refusal([](json &m) { m["features"] = 0; }),
            "m: says feature bits 0x0, its metric needs 0x80");
}

// A filter's says the role, and nothing that only a metric has.
TEST(Manifest, AFilter) {
  Artifact artifact = test::smallArtifact();
  EXPECT_FALSE(test::bodyOf(serializeArtifact(artifact))["manifest"].contains("role"));
  MetricDescriptor filter;
  filter.role = ANNUDF_ROLE_FILTER;
  filter.name = "affordable";
  filter.dims = 7;
  filter.captures = {{"price", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}}};
  Manifest &m = artifact.manifest;
  static_cast<MetricDescriptor &>(m) = filter;
  m.requiredFeatures = featuresOf(m);
  m.abiMinor = minorOf(m);
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest, m);
  const json manifest = test::bodyOf(bytes)["manifest"];
  EXPECT_EQ(manifest["role"], "filter");
  for (const char *field : {"order", "coarse", "coarse_order", "accumulator", "compute_type",
                            "numerics", "elements", "hooks", "fields"})
    EXPECT_FALSE(manifest.contains(field)) << field;
  const std::string text = manifestToText(artifact, "m");
  for (const char *part :
       {"filter affordable (m)\n", "features      captures, filter\n", "dims          7\n",
        "hooks         keep\n", "captures      price: row x f32\n"})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(contains(text, "\n  order") || contains(text, "\n  accumulator"));
  const auto refusal = [&](auto change) {
    json body = test::bodyOf(bytes);
    change(body["manifest"]);
    return errorOf([&] { (void)parseArtifact(test::seal(body), "m"); });
  };
  EXPECT_EQ(refusal([](json &m) { m["role"] = "scan"; }),
            "m: manifest field 'role' is 'scan', which a metric has without saying so");
  EXPECT_EQ(refusal([](json &m) { m["role"] = "coarse"; }),
            "m: manifest field 'role' is 'coarse', which is reserved for a later version; use one "
            "of scan, filter, pairwise");
  EXPECT_EQ(refusal([](json &m) { m["role"] = "join"; }),
            "m: manifest field 'role' is 'join', it must be one of scan, filter, pairwise");
  EXPECT_EQ(refusal([](json &m) { m["order"] = "min"; }),
            "m: manifest field 'order' is unknown to this annudf");
  EXPECT_EQ(refusal([](json &m) { m.erase("role"); }), "m: manifest field 'order' is missing");
  EXPECT_EQ(refusal([](json &m) { m["features"] = 2; }),
            "m: says feature bits 0x2, its filter needs 0x22");
}

TEST(Manifest, RowsThatOnlyIndex) {
  Artifact artifact = test::smallArtifact();
  Manifest &m = artifact.manifest;
  m.captures.push_back({"age", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_ROW, 0}}});
  EXPECT_FALSE(test::bodyOf(serializeArtifact(artifact))["manifest"].contains("row_only_indexes"));
  EXPECT_FALSE(contains(manifestToText(artifact, "m"), "\n  row "));
  m.rowOnlyIndexes = true;
  const std::string bytes = serializeArtifact(artifact);
  EXPECT_EQ(parseArtifact(bytes, "m").manifest, m);
  EXPECT_EQ(test::bodyOf(bytes)["manifest"]["row_only_indexes"], true);
  EXPECT_TRUE(contains(manifestToText(artifact, "m"), "\n  row           only indexes captures\n"));
  for (const json &wrong : {json(false), json(1)}) {
    json body = test::bodyOf(bytes);
    body["manifest"]["row_only_indexes"] = wrong;
    EXPECT_EQ(errorOf([&] { (void)parseArtifact(test::seal(body), "m"); }),
              "m: manifest field 'row_only_indexes' must be true; what uses the number of a row "
              "otherwise has no such field");
  }
}

TEST(Manifest, HooksThatReadTheList) {
  Artifact artifact = test::smallArtifact();
  EXPECT_FALSE(test::bodyOf(serializeArtifact(artifact))["manifest"].contains("reads_list"));
  EXPECT_FALSE(contains(manifestToText(artifact, "m"), "\n  list "));
  artifact.manifest.readsList = true;
  EXPECT_EQ(parseArtifact(serializeArtifact(artifact), "m").manifest, artifact.manifest);
  EXPECT_TRUE(contains(manifestToText(artifact, "m"), "\n  list          read by the hooks\n"));
  EXPECT_EQ(errorWith([](json &m) { m["reads_list"] = false; }),
            "m: manifest field 'reads_list' must be true; a metric that does not read the number "
            "of a list has no such field");
}

TEST(Manifest, UnknownSpellings) {
  EXPECT_EQ(errorWith([](json &m) { m["order"] = "best"; }),
            "m: manifest field 'order' is 'best', it must be one of min, max");
  EXPECT_EQ(errorWith([](json &m) { m["coarse"] = "l1"; }),
            "m: manifest field 'coarse' is 'l1', it must be one of l2, inner_product, cosine");
  EXPECT_EQ(
      errorWith([](json &m) { m["coarse"] = "metric"; }),
      "m: manifest field 'coarse' is 'metric', which is reserved for a later version; use one "
      "of l2, inner_product, cosine");
  EXPECT_EQ(errorWith([](json &m) { m["elements"][1] = "f8"; }),
            "m: manifest field 'elements' is 'f8', it must be one of f32, f16, i8, u8, bf16, bits");
  EXPECT_EQ(errorWith([](json &m) { m["hooks"].push_back("update_packed"); }),
            "m: manifest field 'hooks' is 'update_packed', which is reserved for a later version; "
            "use one of init, update, finalize, combine");
  // Sums of parts are not what strict promises.
  EXPECT_EQ(errorWith([](json &m) { m["hooks"].push_back("combine"); }),
            "m: manifest field 'hooks' names combine, but field 'numerics' is strict");
  EXPECT_EQ(errorWith([](json &m) { m["accumulator"] = std::string(100, 'x'); }),
            "m: manifest field 'accumulator' is '" + std::string(60, 'x') +
                "...', it must be one of f32, f64, i32, u32, i64, struct");
  EXPECT_TRUE(
      contains(errorWith([](json &m) { m["compute_type"] = "f8"; }), "'compute_type' is 'f8'"));
  EXPECT_TRUE(contains(errorWith([](json &m) { m["payloads"][0]["kind"] = "elf"; }),
                       "'payloads[0].kind' is 'elf', it must be one of lto-ir"));
  EXPECT_TRUE(contains(errorWith([](json &m) { m["captures"][0]["element"] = "f128"; }),
                       "'captures[0].element' is 'f128', it must be one of f32, f64, i32, u32"));
  EXPECT_TRUE(contains(errorWith([](json &m) { m["captures"][0]["extents"] = {"constant"}; }),
                       "must give a constant extent as a number"));
  EXPECT_EQ(errorWith([&](json &m) { m["captures"][0]["extents"] = {"lists"}; }),
            "m: manifest field 'captures[0].extents' is 'lists', it must be one of constant, dim, "
            "row, query");
}

TEST(Manifest, ValuesOutOfRange) {
  EXPECT_EQ(errorWith([](json &m) { m["dims"] = -1; }),
            "m: manifest field 'dims' must be an integer not below 0");
  EXPECT_EQ(errorWith([](json &m) { m["dims"] = 2147483648u; }),
            "m: manifest field 'dims' is 2147483648; it must be at most 1048576");
  EXPECT_EQ(errorWith([](json &m) { m["name"] = ""; }), "m: manifest field 'name' is empty");
  EXPECT_EQ(errorWith([](json &m) { m["elements"] = json::array(); }),
            "m: manifest field 'elements' is empty: the metric accepts no element type");
  EXPECT_EQ(errorWith([](json &m) { m["elements"] = {"u8", "u8"}; }),
            "m: manifest field 'elements' names u8 twice");
  EXPECT_EQ(errorWith([](json &m) { m["captures"][1]["extents"][0] = 0; }),
            "m: capture 'm' has extent 0, which must be above 0");
  EXPECT_EQ(errorWith([](json &m) { m["captures"][1]["name"] = "w"; }),
            "m: capture 'w' is declared twice");
  EXPECT_EQ(errorWith([](json &m) {
              for (int i = 3; i < 65; ++i)
                m["captures"].push_back({{"name", "c" + std::to_string(i)},
                                         {"element", "f32"},
                                         {"extents", json::array()}});
            }),
            "m: has 65 captures, the ABI allows 64");
}

// A compiler that fills a manifest wrongly hears of it when it writes, not its users later.
TEST(Manifest, CheckedBeforeWriting) {
  Artifact artifact = test::smallArtifact();
  artifact.manifest.requiredFeatures = 0;
  EXPECT_EQ(errorOf([&] { (void)serializeArtifact(artifact); }),
            "artifact of metric 'weighted_l2': says feature bits 0x0, its metric needs 0x3");
}

// Missing means that nobody verified it: CUDA source.
TEST(Manifest, VerifiedSaysByWhat) {
  EXPECT_EQ(errorWith([](json &m) { m["verified"]["rules"] = 0; }),
            "m: manifest field 'verified.rules' is 0; the first edition of the rules is 1");
  EXPECT_EQ(errorWith([](json &m) { m["verified"]["by"] = "me"; }),
            "m: manifest field 'verified.by' is unknown to this annudf");
  EXPECT_EQ(errorWith([](json &m) { m["verified"]["rules"] = 7; }), "NO ERROR");
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][0]["kind"] = "linked-lto-ir"; }),
            "m: says that it was verified, but has linked-lto-ir, which cannot be verified");
  EXPECT_EQ(errorWith([](json &m) { m.erase("verified"); }), "NO ERROR");
  Artifact artifact = test::smallArtifact();
  EXPECT_EQ(parseArtifact(serializeArtifact(artifact), "m").manifest.verified,
            (Verification{1, "0.1.0"}));
  EXPECT_TRUE(contains(manifestToText(artifact, "m"), "verified      by rules 1 of annudf 0.1.0"));
  artifact.manifest.verified.reset();
  EXPECT_FALSE(json::parse(manifestToJson(artifact)).contains("verified"));
  EXPECT_FALSE(parseArtifact(serializeArtifact(artifact), "m").manifest.verified);
  EXPECT_TRUE(contains(manifestToText(artifact, "m"), "verified      no: prototypes were"));
}

// What a reader does not know, it does not ignore.
TEST(Manifest, UnknownFieldsAreRefused) {
  const auto unknown = [](const std::string &field) {
    return "m: manifest field '" + field + "' is unknown to this annudf";
  };
  EXPECT_EQ(errorWith([](json &m) { m["trusted"] = true; }), unknown("trusted"));
  EXPECT_EQ(errorWith([](json &m) { m["abi"]["patch"] = 0; }), unknown("abi.patch"));
  EXPECT_EQ(errorWith([](json &m) { m["source"]["x"] = 0; }), unknown("source.x"));
  EXPECT_EQ(errorWith([](json &m) { m["tools"]["x"] = "0"; }), unknown("tools.x"));
  EXPECT_EQ(errorWith([](json &m) { m["captures"][0]["stride"] = 4; }),
            unknown("captures[0].stride"));
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][0]["triple"] = "x"; }),
            unknown("payloads[0].triple"));
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][2]["sm"] = 90; }), unknown("payloads[2].sm"));
}

TEST(Manifest, TextsAreNamesAndLines) {
  EXPECT_EQ(errorWith([](json &m) { m["name"] = "a\x1b[31m"; }),
            "m: the body is wrong at byte 287: text holds control characters or is no UTF-8; "
            "compile the metric again");
  EXPECT_EQ(
      errorWith([](json &m) { m["name"] = "a b"; }),
      "m: manifest field 'name' is 'a b', which is no name; a name has letters, digits and _, "
      "no digit first, and at most 255 bytes");
  EXPECT_EQ(errorWith([](json &m) { m["source"]["file"] = std::string(4097, 'a'); }),
            "m: manifest field 'source.file' has 4097 bytes; it must have at most 4096");
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][0]["version"] = "13."; }),
            "m: manifest field 'payloads[0]' has version '13.'; write numbers with dots between "
            "them");
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][0]["producer"] = "lib nvvm"; }),
            "m: manifest field 'payloads[0]' has producer 'lib nvvm'; use letters, digits and _");
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][0]["suffix"] = "x"; }),
            "m: manifest field 'payloads[0]' has suffix 'x', it must be one of a, f");
  EXPECT_EQ(
      errorWith([](json &m) { m["payloads"][0]["sm"] = 0; }),
      "m: manifest field 'payloads[0]' has sm 0; it must be from 10 to 9999, as 90 for sm_90");
  EXPECT_EQ(errorWith([](json &m) { m["payloads"][2]["triple"] = ""; }),
            "m: manifest field 'payloads[2]' has triple ''; host code names its target");
}

TEST(Manifest, ForProgramsAndPeople) {
  const json parsed = json::parse(manifestToJson(test::smallArtifact()));
  EXPECT_EQ(parsed["payloads"][1]["size"], 10);
  EXPECT_EQ(parsed["payloads"][0]["sha256"], sha256Hex("lto80"));
  EXPECT_EQ(parsed["captures"][1]["extents"], json({16, "dim"}));
  EXPECT_EQ(parsed["payloads"][1]["sm"], 90);
  EXPECT_EQ(parsed["contract"].get<std::string>().size(), 16u);
  const std::string text = manifestToText(test::smallArtifact(), "m.annudf");
  for (const char *part : {"metric weighted_l2 (m.annudf)", "annudf.accumulator.v1 1.0",
                           "finalize, captures", "w: dim x f32, m: 16 x dim x f64, t: i32",
                           "weighted_l2.mlir:3", "sm_90, 10 bytes, libnvvm 13.0"})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
}

} // namespace
} // namespace annudf
