//===- Artifact.cpp - Compiled metrics in the C API -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/Artifact.h"

#include "annudf/Support/FileIO.h"
#include "Wrap.h"

#include <algorithm>

using namespace annudf;
using namespace annudf::capi;

annudf_artifact *capi::makeArtifact(Artifact artifact, std::string bytes) {
  std::string digest = sha256Hex(bytes);
  return new annudf_artifact{std::move(artifact), std::move(bytes), std::move(digest)};
}

annudf_artifact *capi::makeArtifact(Artifact artifact) {
  std::string bytes = serializeArtifact(artifact);
  return makeArtifact(std::move(artifact), std::move(bytes));
}

annudf_status annudf_artifact_from_bytes(const void *data, size_t size, const char *origin,
                                         annudf_artifact **artifact) {
  return guard(__func__, [&](Call call) {
    // No bytes have no address in some languages; the parser says what is wrong with them.
    if (size > 0)
      call.refuseNull(data, "data");
    call.refuseNull(origin, "origin");
    call.refuseNull(artifact, "artifact");
    std::string bytes;
    if (size > 0)
      bytes.assign(static_cast<const char *>(data), size);
    Artifact parsed = parseArtifact(bytes, origin);
    *artifact = makeArtifact(std::move(parsed), std::move(bytes));
  });
}

annudf_status annudf_artifact_load(const char *path, annudf_artifact **artifact) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(path, "path");
    call.refuseNull(artifact, "artifact");
    std::string bytes = readFile(path, kMaxArtifactSize);
    Artifact parsed = parseArtifact(bytes, path);
    *artifact = makeArtifact(std::move(parsed), std::move(bytes));
  });
}

annudf_status annudf_artifact_save(const annudf_artifact *artifact, const char *path) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(path, "path");
    writeFile(path, artifact->bytes);
  });
}

annudf_status annudf_artifact_to_bytes(const annudf_artifact *artifact, annudf_buffer **bytes) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(bytes, "bytes");
    *bytes = makeBuffer(artifact->bytes);
  });
}

const char *annudf_artifact_digest(const annudf_artifact *artifact) {
  return artifact ? artifact->digest.c_str() : "";
}

const char *annudf_artifact_name(const annudf_artifact *artifact) {
  return artifact ? artifact->value.manifest.name.c_str() : "";
}

annudf_status annudf_artifact_manifest(const annudf_artifact *artifact, annudf_buffer **json) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(json, "json");
    *json = makeBuffer(manifestToJson(artifact->value));
  });
}

annudf_status annudf_artifact_describe(const annudf_artifact *artifact, const char *origin,
                                       annudf_buffer **text) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(origin, "origin");
    call.refuseNull(text, "text");
    *text = makeBuffer(manifestToText(artifact->value, origin));
  });
}

size_t annudf_artifact_arch_count(const annudf_artifact *artifact) {
  if (!artifact)
    return 0;
  const std::vector<Payload> &payloads = artifact->value.payloads;
  return std::count_if(payloads.begin(), payloads.end(),
                       [](const Payload &payload) { return payload.kind == PayloadKind::LtoIr; });
}

const char *annudf_artifact_arch(const annudf_artifact *artifact, size_t index) {
  if (artifact)
    for (const Payload &payload : artifact->value.payloads)
      if (payload.kind == PayloadKind::LtoIr && index-- == 0)
        return payload.arch.c_str();
  return nullptr;
}

/// The number in "sm_90"; 0 for anything else.
static int versionOf(const std::string &arch) {
  if (arch.size() < 5 || arch.size() > 7 || arch.compare(0, 3, "sm_") != 0 ||
      !std::all_of(arch.begin() + 3, arch.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  return std::stoi(arch.substr(3));
}

annudf_status annudf_artifact_ltoir(const annudf_artifact *artifact, const char *arch,
                                    annudf_buffer **bytes) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(arch, "arch");
    call.refuseNull(bytes, "bytes");
    const int version = versionOf(arch);
    if (version == 0)
      call.refuse("arch is '" + std::string(arch) + "'; write it as sm_90");
    const Payload *payload = artifact->value.findLtoIr(version);
    if (!payload) {
      std::string known;
      for (size_t i = 0; const char *held = annudf_artifact_arch(artifact, i); ++i)
        known += (known.empty() ? "" : ", ") + std::string(held);
      throw Error(ErrorKind::Environment, "metric " + artifact->value.manifest.name +
                                              " has no LTO-IR that links for " + arch +
                                              "; it has " + (known.empty() ? "none" : known) +
                                              "; compile it for " + arch);
    }
    *bytes = makeBuffer(payload->bytes);
  });
}

bool annudf_artifact_has_host_code(const annudf_artifact *artifact) {
  return artifact && artifact->value.find(PayloadKind::HostBitcode);
}

bool annudf_artifact_is_trusted(const annudf_artifact *artifact) {
  return artifact && artifact->value.manifest.trusted;
}

void annudf_artifact_destroy(annudf_artifact *artifact) { delete artifact; }
