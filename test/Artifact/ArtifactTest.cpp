//===- ArtifactTest.cpp - The container: round trip and every kind of damage *- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFiles.h"
#include "TestArtifact.h"

#include <chrono>
#include <set>

namespace annudf {
namespace {

using nlohmann::json;
using test::contains;
using test::errorOf;
using test::seal;
using test::smallArtifact;

std::string parseError(const std::string &bytes) {
  return errorOf([&] { (void)parseArtifact(bytes, "m.annudf"); });
}

TEST(Artifact, RoundTrip) {
  const Artifact artifact = smallArtifact();
  const std::string bytes = serializeArtifact(artifact);
  const Artifact read = parseArtifact(bytes, "m.annudf");
  EXPECT_EQ(serializeArtifact(read), bytes);
  EXPECT_EQ(manifestToJson(read), manifestToJson(artifact));
  ASSERT_EQ(read.payloads.size(), artifact.payloads.size());
  for (size_t i = 0; i < read.payloads.size(); ++i) {
    EXPECT_EQ(read.payloads[i].kind, artifact.payloads[i].kind);
    EXPECT_EQ(read.payloads[i].arch(), artifact.payloads[i].arch());
    EXPECT_EQ(read.payloads[i].producer, artifact.payloads[i].producer);
    EXPECT_EQ(read.payloads[i].bytes, artifact.payloads[i].bytes);
  }
  const Manifest &m = read.manifest;
  EXPECT_EQ(m.name, "weighted_l2");
  EXPECT_EQ(m.order, ANNUDF_ORDER_MIN);
  ASSERT_EQ(m.captures.size(), 3u);
  EXPECT_EQ(m.captures[1].extents[0].kind, ANNUDF_EXTENT_CONSTANT);
  EXPECT_EQ(m.captures[1].extents[0].constant, 16);
  EXPECT_EQ(m.captures[1].extents[1].kind, ANNUDF_EXTENT_DIM);
  EXPECT_TRUE(m.captures[2].extents.empty());
  EXPECT_TRUE(m.accepts(ANNUDF_ELEMENT_U8));
  EXPECT_FALSE(m.accepts(ANNUDF_ELEMENT_F16));
}

TEST(Artifact, EveryEnumValueRoundTrips) {
  for (int order = 0; order < 2; ++order)
    for (int coarse = 0; coarse < 3; ++coarse)
      for (int accumulator = 0; accumulator < 4; ++accumulator) {
        Artifact artifact = smallArtifact();
        Manifest &m = artifact.manifest;
        m.order = static_cast<annudf_order>(order);
        m.coarseOrder = static_cast<annudf_order>(1 - order);
        m.coarse = static_cast<annudf_coarse>(coarse);
        m.accumulator = static_cast<annudf_accumulator>(accumulator);
        m.requiredFeatures = featuresOf(m);
        m.dims = ANNUDF_MAX_DIMS;
        m.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8};
        const Manifest read = parseArtifact(serializeArtifact(artifact), "m").manifest;
        EXPECT_EQ(read.order, m.order);
        EXPECT_EQ(read.coarseOrder, m.coarseOrder);
        EXPECT_EQ(read.coarse, m.coarse);
        EXPECT_EQ(read.accumulator, m.accumulator);
        EXPECT_EQ(read.elements, m.elements);
        EXPECT_EQ(read.dims, m.dims);
      }
}

TEST(Artifact, WritesAndReadsFiles) {
  const test::TempDir dir;
  writeArtifact(smallArtifact(), dir / "m.annudf");
  EXPECT_EQ(dir.entries(), 1u);
  EXPECT_EQ(manifestToJson(readArtifact(dir / "m.annudf")), manifestToJson(smallArtifact()));
  EXPECT_TRUE(contains(errorOf([&] { (void)readArtifact(dir / "none"); }), dir / "none"));
}

TEST(Artifact, PicksLtoIrByArchitecture) {
  Artifact artifact = smallArtifact();
  artifact.payloads.push_back(Payload::ltoIr(100, "a", {"libnvvm", "13.0"}, "suffixed"));
  EXPECT_EQ(artifact.findLtoIr(75), nullptr);
  EXPECT_EQ(artifact.findLtoIr(80)->bytes, "lto80");
  EXPECT_EQ(artifact.findLtoIr(89)->bytes, "lto80");
  EXPECT_EQ(artifact.findLtoIr(90)->arch(), "sm_90");
  EXPECT_EQ(artifact.findLtoIr(100)->arch(), "sm_100a");
  EXPECT_EQ(artifact.findLtoIr(103)->arch(), "sm_90") << "sm_100a serves no other architecture";
  EXPECT_EQ(artifact.find(PayloadKind::HostBitcode)->bytes, "BC");
  artifact.payloads.clear();
  EXPECT_EQ(artifact.find(PayloadKind::HostBitcode), nullptr);
}

// Unsigned files are taken, so a signature that nobody checks must not look as if it were.
TEST(ArtifactDamage, ReservedSignature) {
  json outer = json::from_cbor(serializeArtifact(smallArtifact()));
  outer["signature"] = json::array();
  std::string bytes;
  json::to_cbor(outer, bytes);
  EXPECT_EQ(parseError(bytes),
            "m.annudf: carries the key 'signature', which is reserved for a later version; keep "
            "signatures in a file beside it");
}

TEST(ArtifactDamage, EveryTruncation) {
  const std::string bytes = serializeArtifact(smallArtifact());
  EXPECT_EQ(parseError(""),
            "m.annudf: the file is empty, not an annudf artifact; compile a metric into it");
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_EQ(parseError(bytes.substr(0, size)), "m.annudf: truncated: the artifact ends after " +
                                                     std::to_string(size) +
                                                     " bytes; copy the whole file");
}

TEST(ArtifactDamage, EveryBitFlip) {
  std::string bytes = serializeArtifact(smallArtifact());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      const std::string error = parseError(bytes);
      EXPECT_TRUE(contains(error, "m.annudf: ")) << "byte " << i << " bit " << bit << ": " << error;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
    }
  EXPECT_EQ(parseError(bytes), "NO ERROR");
}

TEST(ArtifactDamage, EachKindHasItsOwnError) {
  const std::string bytes = serializeArtifact(smallArtifact());
  EXPECT_EQ(parseError("\x7f"
                       "ELF and so on"),
            "m.annudf: not an annudf artifact (its first bytes are wrong); give a compiled metric");
  EXPECT_EQ(parseError("\xa3\x66"
                       "annuaf"),
            "m.annudf: not an annudf artifact (its first bytes are wrong); give a compiled metric");
  std::string changed = bytes;
  changed[bytes.find("weighted_l2")] = 'W';
  EXPECT_EQ(parseError(changed),
            "m.annudf: damaged: the SHA-256 of its content does not match; copy the file again");
  changed = bytes;
  changed[8] = '\x02';
  EXPECT_EQ(parseError(changed), "m.annudf: container version 2, this annudf reads version 1; "
                                 "compile the metric again, or update annudf");
  changed = bytes + "x";
  EXPECT_EQ(parseError(changed), "m.annudf: damaged at byte " + std::to_string(bytes.size()) +
                                     ": bytes follow the item; copy the file again");
}

// A right digest proves only that the file is as its maker left it.
TEST(ArtifactDamage, HostileBodies) {
  EXPECT_TRUE(contains(parseError(seal(std::string(1 << 22, '\x81'))), "wrong at byte 16"));
  EXPECT_TRUE(contains(parseError(seal(std::string(1 << 22, '\x7f'))), "wrong at byte 0"));
  EXPECT_TRUE(contains(parseError(seal(std::string("\x9b\x00\x00\xff\xff\xff\xff\xff\xff", 9))),
                       "wrong at byte 0"));
  EXPECT_EQ(parseError(seal(json(17))),
            "m.annudf: the body does not hold a manifest and payloads; compile the metric again");
  EXPECT_EQ(parseError(seal(json{{"manifest", 1}, {"payloads", json::array()}})),
            "m.annudf: manifest must be a map");
  for (const char *key : {"extra", "signature"}) {
    json body =
        json::from_cbor(json::from_cbor(serializeArtifact(smallArtifact()))["body"].get_binary());
    body[key] = 1;
    EXPECT_EQ(
        parseError(seal(body)),
        "m.annudf: the body holds more than a manifest and payloads; compile the metric again");
  }
  EXPECT_EQ(parseError("\xa3\x66"
                       "annudf\x01" +
                       std::string(1 << 20, '\x7f')),
            "m.annudf: damaged at byte 9: an item without a definite length; copy the file again");
}

// 16 MB of items of one byte took 3 GB.
TEST(ArtifactDamage, ABodyOfCountlessItems) {
  const std::string items = std::string("\x9a\x01\x00\x00\x00", 5) + std::string(1 << 24, '\0');
  EXPECT_EQ(parseError(seal(items)), "m.annudf: the body is wrong at byte 16388: more items than "
                                     "such a file may hold; compile the metric again");
  json body = test::bodyOf(serializeArtifact(smallArtifact()));
  body["manifest"]["name"] = std::string(2 << 20, 'x');
  EXPECT_TRUE(contains(parseError(seal(body)), "more text than such a file may hold"));
}

TEST(ArtifactDamage, AFieldGivenTwice) {
  const std::string body = "\xa3\x68"
                           "manifest\xa0\x68"
                           "manifest\xa0\x68"
                           "payloads\x80";
  EXPECT_EQ(
      parseError(seal(body)),
      "m.annudf: the body is wrong at byte 11: a key is given twice; compile the metric again");
}

TEST(ArtifactDamage, TextThatATerminalWouldObey) {
  for (const char *name : {"a\x1b[31m", "a\nb", "a\xff",
                           "\xc2\x9b"
                           "31m"}) {
    json body = test::bodyOf(serializeArtifact(smallArtifact()));
    body["manifest"]["name"] = name;
    EXPECT_TRUE(contains(parseError(seal(body)), "text holds control characters or is no UTF-8"));
    Artifact artifact = smallArtifact();
    artifact.manifest.sourceFile = name;
    EXPECT_TRUE(contains(errorOf([&] { (void)serializeArtifact(artifact); }),
                         "it must be printable and have at most "));
  }
}

TEST(ArtifactDamage, PayloadsAgainstTheManifest) {
  const json body = test::bodyOf(serializeArtifact(smallArtifact()));
  json changed = body;
  changed["payloads"].erase(3);
  EXPECT_EQ(parseError(seal(changed)),
            "m.annudf: the manifest names 4 payloads, the file holds 3; compile the metric again");
  changed = body;
  changed["payloads"][0].get_binary().push_back(0);
  EXPECT_EQ(parseError(seal(changed)),
            "m.annudf: payload 0 has 6 bytes, the manifest says 5; compile the metric again");
  changed = body;
  changed["payloads"][1].get_binary()[0] ^= 1;
  EXPECT_EQ(parseError(seal(changed)), "m.annudf: payload 1 does not have the SHA-256 that the "
                                       "manifest gives; compile the metric again");
  changed = body;
  changed["payloads"][2] = "text";
  EXPECT_EQ(parseError(seal(changed)),
            "m.annudf: payload 2 is not a byte string; compile the metric again");
  EXPECT_EQ(parseError(seal(body)), "NO ERROR");
}

} // namespace
} // namespace annudf
