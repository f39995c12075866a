//===- TestArtifact.h - A small artifact and its bytes ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_ARTIFACT_TESTARTIFACT_H
#define ANNUDF_TEST_ARTIFACT_TESTARTIFACT_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/Support/Sha256.h"

#include <nlohmann/json.hpp>

namespace annudf::test {

inline Artifact smallArtifact() {
  Artifact artifact;
  Manifest &m = artifact.manifest;
  m.requiredFeatures = ANNUDF_FEATURE_CAPTURES | ANNUDF_FEATURE_FINALIZE;
  m.name = "weighted_l2";
  m.elements = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8};
  m.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_FINALIZE};
  m.captures = {{"w", ANNUDF_CAPTURE_F32, {{ANNUDF_EXTENT_DIM, 0}}},
                {"m", ANNUDF_CAPTURE_F64, {{ANNUDF_EXTENT_CONSTANT, 16}, {ANNUDF_EXTENT_DIM, 0}}},
                {"t", ANNUDF_CAPTURE_I32, {}}};
  m.sourceFile = "weighted_l2.mlir";
  m.sourceLine = 3;
  m.annudfVersion = "0.1.0";
  m.llvmVersion = "22.1.8";
  m.verified = Verification{1, "0.1.0"};
  artifact.payloads = {
      Payload::ltoIr(80, "", {"libnvvm", "13.0"}, "lto80"),
      Payload::ltoIr(90, "", {"libnvvm", "13.0"}, std::string("lto\0ninety", 10)),
      Payload::hostBitcode("x86_64-pc-linux-gnu", {"llvm", "22.1.8"}, "BC"),
      Payload::mlirBytecode({"llvm", "22.1.8"}, "")};
  return artifact;
}

/// The body of a serialized artifact, to be changed and sealed again.
inline nlohmann::json bodyOf(const std::string &bytes) {
  return nlohmann::json::from_cbor(nlohmann::json::from_cbor(bytes)["body"].get_binary());
}

/// A container with a right digest around any body.
inline std::string seal(const std::string &body) {
  const auto digest = Sha256::of(body.data(), body.size());
  std::string bytes;
  nlohmann::json::to_cbor({{"annudf", 1},
                           {"body", nlohmann::json::binary({body.begin(), body.end()})},
                           {"sha256", nlohmann::json::binary({digest.begin(), digest.end()})}},
                          bytes);
  return bytes;
}
inline std::string seal(const nlohmann::json &body) {
  std::string bytes;
  nlohmann::json::to_cbor(body, bytes);
  return seal(bytes);
}

} // namespace annudf::test

#endif // ANNUDF_TEST_ARTIFACT_TESTARTIFACT_H
