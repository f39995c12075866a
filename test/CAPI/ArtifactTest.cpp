//===- ArtifactTest.cpp - Artifacts through the C API ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApi.h"

#include "annudf/Artifact/Artifact.h"

#include <nlohmann/json.hpp>

using namespace annudf::test;

namespace {

class CApiArtifact : public testing::Test {
protected:
  void SetUp() override {
    compileForHost(kMetric, &artifact);
    ASSERT_EQ(annudf_artifact_to_bytes(artifact, &bytes), ANNUDF_OK);
  }
  OwnedArtifact artifact;
  OwnedBuffer bytes;
};

TEST_F(CApiArtifact, BytesAreThoseOfTheFile) {
  TempDir folder;
  const std::string path = folder / "m.annudf";
  ASSERT_EQ(outcome(annudf_artifact_save(artifact, path.c_str())), "ok");
  EXPECT_EQ(annudf::readFile(path, 1 << 20), textOf(bytes));
  OwnedArtifact loaded;
  ASSERT_EQ(outcome(annudf_artifact_load(path.c_str(), &loaded)), "ok");
  OwnedBuffer again;
  ASSERT_EQ(annudf_artifact_to_bytes(loaded, &again), ANNUDF_OK);
  EXPECT_EQ(textOf(again), textOf(bytes));
  EXPECT_STREQ(annudf_artifact_get(loaded)->digest, annudf_artifact_get(artifact)->digest);
  EXPECT_EQ(annudf_artifact_get(artifact)->digest, annudf::sha256Hex(textOf(bytes)));
}

TEST_F(CApiArtifact, ManifestForPeopleAndPrograms) {
  EXPECT_STREQ(annudf_artifact_get(artifact)->name, "weighted");
  OwnedBuffer json, text;
  ASSERT_EQ(annudf_artifact_manifest(artifact, &json), ANNUDF_OK);
  const auto fields = nlohmann::json::parse(textOf(json));
  EXPECT_EQ(fields["name"], "weighted");
  EXPECT_EQ(fields["captures"][0]["name"], "w");
  EXPECT_EQ(fields["verified"]["rules"], 1);
  ASSERT_EQ(annudf_artifact_describe(artifact, "somewhere", &text), ANNUDF_OK);
  EXPECT_EQ(textOf(text).find("metric weighted (somewhere)\n"), 0u) << textOf(text);
  EXPECT_TRUE(contains(textOf(text), "verified      by rules 1"));
}

TEST_F(CApiArtifact, PayloadsAreFields) {
  const size_t count = annudf_artifact_get(artifact)->payload_count;
  ASSERT_EQ(count, 2u);
  annudf_payload host = {}, mlir = {};
  for (size_t i = 0; i < count; ++i) {
    annudf_payload one = {};
    one.size = sizeof one;
    ASSERT_EQ(outcome(annudf_artifact_payload(artifact, i, &one)), "ok");
    (one.kind == ANNUDF_PAYLOAD_HOST ? host : mlir) = one;
  }
  ASSERT_TRUE(host.target && mlir.target);
  EXPECT_EQ(host.kind, ANNUDF_PAYLOAD_HOST);
  EXPECT_EQ(mlir.kind, ANNUDF_PAYLOAD_MLIR);
  EXPECT_EQ(host.arch, 0);
  EXPECT_STRNE(host.target, "");
  EXPECT_STREQ(host.producer, "llvm");
  EXPECT_STREQ(host.version, annudf_llvm_version());
  EXPECT_EQ(host.producer_major, 22);
  EXPECT_EQ(host.producer_minor, 1);
  EXPECT_GT(host.bytes, 0u);
  EXPECT_GT(mlir.bytes, 0u);
  annudf_payload none = {};
  EXPECT_EQ(outcome(annudf_artifact_payload(artifact, 0, &none))
                .find("usage: annudf_artifact_payload: annudf_payload.size is 0, at least"),
            0u);
  none.size = sizeof none;
  EXPECT_EQ(
      outcome(annudf_artifact_payload(artifact, 2, &none)),
      "usage: annudf_artifact_payload: index is 2, the artifact has 2 payloads; count from 0");
}

TEST_F(CApiArtifact, CapturesThatItDeclares) {
  ASSERT_EQ(annudf_artifact_get(artifact)->capture_count, 1u);
  annudf_capture_declaration w = {};
  EXPECT_EQ(outcome(annudf_artifact_capture(artifact, 0, &w))
                .find("usage: annudf_artifact_capture: annudf_capture_declaration.size is 0, at"),
            0u);
  w.size = sizeof w;
  ASSERT_EQ(outcome(annudf_artifact_capture(artifact, 0, &w)), "ok");
  EXPECT_STREQ(w.name, "w");
  EXPECT_EQ(w.element, ANNUDF_CAPTURE_F32);
  EXPECT_EQ(w.rank, 1);
  EXPECT_EQ(w.extents[0], ANNUDF_EXTENT_DIM);
  EXPECT_EQ(w.constants[0], 0);
  EXPECT_EQ(
      outcome(annudf_artifact_capture(artifact, 1, &w)),
      "usage: annudf_artifact_capture: index is 1, the artifact has 1 captures; count from 0");

  OwnedArtifact table;
  compileForHost(R"(annudf.metric @table order(min) coarse(l2) elements(f32) {
  %t = annudf.capture "t" : !annudf.capture<query x 5 x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %query = annudf.index query
    %first = arith.constant 0 : index
    %entry = annudf.load %t[%query, %first] : !annudf.capture<query x 5 x f32>
    %next = math.fma %entry, %x, %acc : f32
    annudf.yield %next : f32
  }
}
)",
                 &table);
  ASSERT_EQ(outcome(annudf_artifact_capture(table, 0, &w)), "ok");
  EXPECT_EQ(w.rank, 2);
  EXPECT_EQ(w.extents[0], ANNUDF_EXTENT_QUERY);
  EXPECT_EQ(w.extents[1], ANNUDF_EXTENT_CONSTANT);
  EXPECT_EQ(w.constants[1], 5);
}

TEST_F(CApiArtifact, CodeThatItHolds) {
  EXPECT_TRUE(annudf_artifact_get(artifact)->has_host_code);
  EXPECT_EQ(annudf_artifact_get(artifact)->verified_rules, 1u);
  EXPECT_STREQ(annudf_artifact_get(artifact)->verified_by, annudf_version());
  EXPECT_EQ(annudf_artifact_get(artifact)->arch_count, 0u);
  OwnedBuffer code;
  EXPECT_EQ(outcome(annudf_artifact_ltoir(artifact, "sm_90", &code)),
            "environment: metric weighted has no LTO-IR that links for sm_90; it has none; "
            "compile it for sm_90");
  for (const char *arch : {"", "sm_", "90", "sm_90a", "sm_9x", "sm_12345"})
    EXPECT_EQ(outcome(annudf_artifact_ltoir(artifact, arch, &code)),
              std::string("usage: annudf_artifact_ltoir: arch is '") + arch +
                  "'; write it as sm_90");
  EXPECT_EQ(textOf(code), "NO BUFFER");
}

TEST_F(CApiArtifact, NotVerifiedIsKeptInTheFile) {
  annudf::Artifact source = annudf::parseArtifact(textOf(bytes), "test");
  source.manifest.verified.reset();
  source.payloads.push_back(annudf::Payload::ltoIr(100, "a", {"nvrtc", "13.0"}, "code"));
  const std::string file = annudf::serializeArtifact(source);
  OwnedArtifact read;
  ASSERT_EQ(outcome(annudf_artifact_from_bytes(file.data(), file.size(), "t", &read)), "ok");
  EXPECT_EQ(annudf_artifact_get(read)->verified_rules, 0u);
  EXPECT_STREQ(annudf_artifact_get(read)->verified_by, "");
  EXPECT_EQ(annudf_artifact_get(read)->contract, annudf::contractOf(source.manifest));
  OwnedBuffer text;
  ASSERT_EQ(annudf_artifact_describe(read, "t", &text), ANNUDF_OK);
  EXPECT_TRUE(contains(textOf(text), "  verified      no:")) << textOf(text);
  annudf_payload code = {};
  code.size = sizeof code;
  ASSERT_EQ(outcome(annudf_artifact_payload(read, 2, &code)), "ok");
  EXPECT_EQ(code.arch, 100);
  EXPECT_STREQ(code.suffix, "a");
  EXPECT_STREQ(code.target, "sm_100a");
  EXPECT_STREQ(code.producer, "nvrtc");
  EXPECT_STREQ(code.version, "13.0");
  EXPECT_EQ(code.producer_major, 13);
  EXPECT_STREQ(annudf_artifact_get(read)->archs[0], "sm_100a");
}

TEST(CApiTables, EveryRowIsThere) {
  size_t count = 0;
  for (; const char *name = annudf_table_name(count); ++count) {
    const annudf::Table &table = annudf::tables()[count];
    EXPECT_STREQ(name, table.name);
    ASSERT_EQ(annudf_table_size(name), table.rows.size());
    for (size_t i = 0; i < table.rows.size(); ++i) {
      annudf_table_row row = {};
      row.size = sizeof row;
      ASSERT_EQ(outcome(annudf_table_read(name, i, &row)), "ok");
      EXPECT_STREQ(row.spelling, table.rows[i].spelling);
      EXPECT_EQ(row.value, table.rows[i].value);
      EXPECT_EQ(row.since, table.rows[i].since);
    }
  }
  EXPECT_EQ(count, annudf::tables().size());
  annudf_table_row row = {};
  EXPECT_EQ(outcome(annudf_table_read("coarses", 1, &row))
                .find("usage: annudf_table_read: "
                      "annudf_table_row.size is 0"),
            0u);
  row.size = sizeof row;
  ASSERT_EQ(outcome(annudf_table_read("coarses", 1, &row)), "ok");
  EXPECT_STREQ(row.detail, "MAX");
  ASSERT_EQ(outcome(annudf_table_read("elements", 3, &row)), "ok");
  EXPECT_STREQ(row.kind, "unsigned");
  EXPECT_EQ(row.bits, 8);
  EXPECT_EQ(annudf_table_size("none"), 0u);
  EXPECT_EQ(outcome(annudf_table_read("none", 0, &row)),
            "usage: annudf_table_read: there is no table 'none'");
  EXPECT_EQ(outcome(annudf_table_read("orders", 2, &row)),
            "usage: annudf_table_read: index is 2, table orders has 2 rows");
}

TEST_F(CApiArtifact, DamagedBytesAreRefused) {
  OwnedArtifact read;
  EXPECT_EQ(outcome(annudf_artifact_from_bytes(nullptr, 0, "here", &read)),
            "input: here: the file is empty, not an annudf artifact; compile a metric into it");
  EXPECT_EQ(
      outcome(annudf_artifact_from_bytes("garbage", 7, "here", &read)),
      "input: here: not an annudf artifact (its first bytes are wrong); give a compiled metric");
  std::string cut = textOf(bytes).substr(0, 100);
  EXPECT_EQ(outcome(annudf_artifact_from_bytes(cut.data(), cut.size(), "here", &read)),
            "input: here: truncated: the artifact ends after 100 bytes; copy the whole file");
  EXPECT_EQ(static_cast<annudf_artifact *>(read), nullptr);
  TempDir folder;
  EXPECT_TRUE(contains(outcome(annudf_artifact_load((folder / "none").c_str(), &read)),
                       "input: " + (folder / "none")));
  EXPECT_TRUE(contains(outcome(annudf_artifact_save(artifact, (folder / "no/such").c_str())),
                       "environment: "));
}

TEST_F(CApiArtifact, NullIsRefused) {
  OwnedArtifact read;
  OwnedBuffer out;
  auto null = [](const char *function, const char *parameter) {
    return std::string("usage: ") + function + ": " + parameter + " is NULL";
  };
  EXPECT_EQ(outcome(annudf_artifact_from_bytes(nullptr, 1, "o", &read)),
            null("annudf_artifact_from_bytes", "data"));
  EXPECT_EQ(outcome(annudf_artifact_from_bytes("x", 1, nullptr, &read)),
            null("annudf_artifact_from_bytes", "origin"));
  EXPECT_EQ(outcome(annudf_artifact_from_bytes("x", 1, "o", nullptr)),
            null("annudf_artifact_from_bytes", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_load("x", nullptr)), null("annudf_artifact_load", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_save(artifact, nullptr)), null("annudf_artifact_save", "path"));
  EXPECT_EQ(outcome(annudf_artifact_to_bytes(nullptr, &out)),
            null("annudf_artifact_to_bytes", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_to_bytes(artifact, nullptr)),
            null("annudf_artifact_to_bytes", "bytes"));
  EXPECT_EQ(annudf_artifact_get(nullptr), nullptr);
  EXPECT_EQ(outcome(annudf_artifact_manifest(nullptr, &out)),
            null("annudf_artifact_manifest", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_manifest(artifact, nullptr)),
            null("annudf_artifact_manifest", "json"));
  EXPECT_EQ(outcome(annudf_artifact_describe(nullptr, "o", &out)),
            null("annudf_artifact_describe", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_describe(artifact, nullptr, &out)),
            null("annudf_artifact_describe", "origin"));
  EXPECT_EQ(outcome(annudf_artifact_describe(artifact, "o", nullptr)),
            null("annudf_artifact_describe", "text"));
  EXPECT_EQ(outcome(annudf_artifact_ltoir(nullptr, "sm_90", &out)),
            null("annudf_artifact_ltoir", "artifact"));
  EXPECT_EQ(outcome(annudf_artifact_ltoir(artifact, nullptr, &out)),
            null("annudf_artifact_ltoir", "arch"));
  EXPECT_EQ(outcome(annudf_artifact_ltoir(artifact, "sm_90", nullptr)),
            null("annudf_artifact_ltoir", "bytes"));
}

} // namespace
