//===- Manifest.cpp - Fuzzing artifacts -------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Most mutations change the body and seal it again: damage that a digest finds ends at once.
#include "Artifact/TestArtifact.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/Artifact/Cbor.h"
#include "fuzz/Fuzz.h"

#include <cstring>

using namespace annudf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::readOrRefuse([&] {
    const Artifact artifact = parseArtifact(fuzz::viewOf(data, size), "input");
    (void)manifestToText(artifact, "input");
    (void)manifestToJson(artifact);
    // What is read can be written, and says the same.
    const std::string written = serializeArtifact(artifact);
    if (serializeArtifact(parseArtifact(written, "written")) != written)
      std::abort();
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  if (seed % 8 == 0 || !checkCbor(fuzz::viewOf(data, size), kContainerLimits))
    return LLVMFuzzerMutate(data, size, maxSize);
  const auto outer = nlohmann::json::from_cbor(data, data + size);
  if (!outer.is_object() || !outer.contains("body") || !outer["body"].is_binary())
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string body(outer["body"].get_binary().begin(), outer["body"].get_binary().end());
  const size_t before = body.size(), room = maxSize > 128 ? maxSize - 128 : maxSize;
  body.resize(std::max(room, before));
  body.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(body.data()), before, body.size()));
  const std::string sealed = test::seal(body);
  if (sealed.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, sealed.data(), sealed.size());
  return sealed.size();
}
