//===- GoldenTest.cpp - Artifacts of earlier versions stay what they are --===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/FileIO.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace annudf {
namespace {

// scripts/make-goldens wrote them, once.
TEST(Golden, ArtifactIsReadAndWrittenByteForByte) {
  const std::string folder = ANNUDF_GOLDEN_DIR;
  const std::string bytes = readFile(folder + "weighted_l2.annudf", kMaxArtifactSize);
  const Artifact artifact = parseArtifact(bytes, "weighted_l2.annudf");
  EXPECT_TRUE(serializeArtifact(artifact) == bytes);
  EXPECT_EQ(nlohmann::json::parse(manifestToJson(artifact)),
            nlohmann::json::parse(readFile(folder + "weighted_l2.json", 1 << 20)));
  EXPECT_NE(artifact.findLtoIr(90), nullptr);
  EXPECT_NE(artifact.find(PayloadKind::HostBitcode), nullptr);
  EXPECT_NE(artifact.find(PayloadKind::MlirBytecode), nullptr);
}

} // namespace
} // namespace annudf
