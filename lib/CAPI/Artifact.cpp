//===- Artifact.cpp - Compiled metrics in the C API -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/Artifact.h"

#include "Wrap.h"
#include "annudf/Support/FileIO.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

using namespace annudf;
using namespace annudf::capi;

annudf_artifact *capi::makeArtifact(Artifact artifact, std::string bytes) {
  std::string digest = sha256Hex(bytes);
  auto made = std::unique_ptr<annudf_artifact>(
      new annudf_artifact{std::move(artifact), std::move(bytes), std::move(digest), {}, {}, {}});
  const std::vector<Payload> &payloads = made->value.payloads;
  for (const Payload &payload : payloads)
    made->targets.push_back(payload.arch());
  for (size_t i = 0; i < payloads.size(); ++i)
    if (payloads[i].isHooksOfGpu())
      made->archs.push_back(made->targets[i].c_str());
  const Manifest &manifest = made->value.manifest;
  annudf_artifact_info &info = made->info;
  info.size = sizeof info;
  info.name = manifest.name.c_str(), info.digest = made->digest.c_str();
  info.role = manifest.role;
  info.has_host_code = made->value.find(PayloadKind::HostBitcode) != nullptr;
  info.verified_rules = manifest.verified ? manifest.verified->rules : 0;
  info.verified_by = manifest.verified ? manifest.verified->version.c_str() : "";
  info.missing_values = manifest.missingValues;
  info.sees_query = manifest.seesQuery;
  info.contract = contractOf(manifest);
  info.payload_count = payloads.size(), info.capture_count = manifest.captures.size();
  info.arch_count = made->archs.size(), info.archs = made->archs.data();
  return made.release();
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

const annudf_artifact_info *annudf_artifact_get(const annudf_artifact *artifact) {
  return artifact ? &artifact->info : nullptr;
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

/// The number in "sm_90"; 0 for anything else.
static int versionOf(const std::string &arch) {
  if (arch.size() < 5 || arch.size() > 7 || arch.compare(0, 3, "sm_") != 0 ||
      !std::all_of(arch.begin() + 3, arch.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  return std::stoi(arch.substr(3));
}

annudf_status annudf_artifact_payload(const annudf_artifact *artifact, size_t index,
                                      annudf_payload *payload) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(payload, "payload");
    const std::vector<Payload> &payloads = artifact->value.payloads;
    if (index >= payloads.size())
      call.refuse("index is " + std::to_string(index) + ", the artifact has " +
                  std::to_string(payloads.size()) + " payloads; count from 0");
    const Payload &entry = payloads[index];
    annudf_payload filled = {};
    switch (entry.kind) {
    case PayloadKind::LtoIr:
      filled.kind = ANNUDF_PAYLOAD_LTOIR;
      filled.arch = entry.sm;
      break;
    case PayloadKind::Ptx:
      filled.kind = ANNUDF_PAYLOAD_PTX;
      filled.arch = entry.sm;
      break;
    case PayloadKind::HostBitcode:
      filled.kind = ANNUDF_PAYLOAD_HOST;
      break;
    case PayloadKind::MlirBytecode:
      filled.kind = ANNUDF_PAYLOAD_MLIR;
      break;
    case PayloadKind::LinkedLtoIr:
    case PayloadKind::LinkedPtx:
    case PayloadKind::LinkedCubin:
      filled.kind = ANNUDF_PAYLOAD_LINKED;
      filled.arch = entry.sm;
      break;
    }
    filled.suffix = entry.suffix.c_str();
    filled.target = artifact->targets[index].c_str();
    filled.producer = entry.producer.name.c_str();
    filled.version = entry.producer.version.c_str();
    const auto [major, minor] = entry.producer.release();
    filled.producer_major = static_cast<int32_t>(major);
    filled.producer_minor = static_cast<int32_t>(minor);
    filled.bytes = entry.bytes.size();
    fill(call, payload, filled, offsetof(annudf_payload, bytes) + sizeof(uint64_t),
         "annudf_payload");
  });
}

annudf_status annudf_artifact_capture(const annudf_artifact *artifact, size_t index,
                                      annudf_capture_declaration *capture) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    call.refuseNull(capture, "capture");
    const std::vector<CaptureInfo> &captures = artifact->value.manifest.captures;
    if (index >= captures.size())
      call.refuse("index is " + std::to_string(index) + ", the artifact has " +
                  std::to_string(captures.size()) + " captures; count from 0");
    const CaptureInfo &declared = captures[index];
    annudf_capture_declaration filled = {};
    filled.name = declared.name.c_str();
    filled.element = declared.element;
    filled.rank = static_cast<int32_t>(declared.extents.size());
    for (size_t i = 0; i < declared.extents.size(); ++i) {
      filled.extents[i] = declared.extents[i].kind;
      filled.constants[i] = declared.extents[i].constant;
    }
    fill(call, capture, filled,
         offsetof(annudf_capture_declaration, constants) +
             sizeof(annudf_capture_declaration::constants),
         "annudf_capture_declaration");
  });
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
      for (const Payload &held : artifact->value.payloads)
        if (held.kind == PayloadKind::LtoIr)
          known += (known.empty() ? "" : ", ") + held.arch();
      throw Error(ErrorKind::Environment, "metric " + artifact->value.manifest.name +
                                              " has no LTO-IR that links for " + arch +
                                              "; it has " + (known.empty() ? "none" : known) +
                                              "; compile it for " + arch);
    }
    *bytes = makeBuffer(payload->bytes);
  });
}

void annudf_artifact_destroy(annudf_artifact *artifact) { delete artifact; }

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

static const Table *findTable(const char *name) {
  for (const Table &table : tables())
    if (name && std::strcmp(name, table.name) == 0)
      return &table;
  return nullptr;
}

static const char *spell(NumberKind kind) {
  switch (kind) {
  case NumberKind::None:
    return "";
  case NumberKind::Float:
    return "float";
  case NumberKind::Signed:
    return "signed";
  case NumberKind::Unsigned:
    return "unsigned";
  }
  return "";
}

const char *annudf_table_name(size_t index) {
  return index < tables().size() ? tables()[index].name : nullptr;
}

size_t annudf_table_size(const char *table) {
  const Table *found = findTable(table);
  return found ? found->rows.size() : 0;
}

annudf_status annudf_table_read(const char *table, size_t index, annudf_table_row *row) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(table, "table");
    call.refuseNull(row, "row");
    const Table *found = findTable(table);
    if (!found)
      call.refuse("there is no table " + inQuotes(table));
    if (index >= found->rows.size())
      call.refuse("index is " + std::to_string(index) + ", table " + found->name + " has " +
                  std::to_string(found->rows.size()) + " rows");
    const TableRow &from = found->rows[index];
    const annudf_table_row filled = {0,         from.name,        from.spelling, from.value,
                                     from.bits, spell(from.kind), from.detail,   from.since};
    fill(call, row, filled, offsetof(annudf_table_row, since) + sizeof(int32_t),
         "annudf_table_row");
  });
}
