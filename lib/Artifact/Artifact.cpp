//===- Artifact.cpp - The container of a compiled metric ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Artifact/Artifact.h"

#include "ManifestFields.h"
#include "annudf/Artifact/Cbor.h"
#include "annudf/Support/FileIO.h"
#include "annudf/Support/Printable.h"
#include "annudf/Support/Sha256.h"

#include <algorithm>

namespace annudf {
namespace {

constexpr uint64_t kContainerVersion = 1;

/// Every artifact starts with a map whose first key, in CBOR's encoding, is this.
constexpr std::string_view kMagic = "\x66"
                                    "annudf";

/// A manifest of 64 captures and 9 architectures has some 900 items and 10 KB of text.
constexpr CborLimits kBodyLimits = {.items = 1 << 14, .text = 1 << 20};

const Value *find(const Map &map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

[[noreturn]] void refuse(const std::string &origin, const std::string &what) {
  throw Error(ErrorKind::Input, origin + ": " + what);
}

[[noreturn]] void refuseTruncated(const std::string &origin, std::string_view bytes) {
  refuse(origin, "truncated: the artifact ends after " + std::to_string(bytes.size()) +
                     " bytes; copy the whole file");
}

/// For bytes that changed on their way.
[[noreturn]] void refuseDamaged(const std::string &origin, const std::string &what) {
  refuse(origin, "damaged" + what + "; copy the file again");
}

/// For a file that was written so.
[[noreturn]] void refuseContent(const std::string &origin, const std::string &what) {
  refuse(origin, what + "; compile the metric again");
}

std::string placeOf(const CborResult &result) {
  return " at byte " + std::to_string(result.offset) + ": " + result.why;
}

/// Whether the bytes start like an artifact, as far as they go.
void checkMagic(std::string_view bytes, const std::string &origin) {
  if (bytes.empty())
    refuse(origin, "the file is empty, not an annudf artifact; compile a metric into it");
  const auto head = static_cast<uint8_t>(bytes[0]);
  const std::string_view start = bytes.substr(1, kMagic.size());
  // A map of up to 23 entries: a newer container may have more than ours.
  if ((head & 0xe0) != 0xa0 || (head & 31) > 23 || start != kMagic.substr(0, start.size()))
    refuse(origin, "not an annudf artifact (its first bytes are wrong); give a compiled metric");
}

} // namespace

std::pair<unsigned, unsigned> Producer::release() const {
  unsigned major = 0, minor = 0;
  if (std::sscanf(version.c_str(), "%u.%u", &major, &minor) < 1)
    throw Error(ErrorKind::Input,
                "version of " + name + " is '" + version + "'; it must begin with a number");
  return {major, minor};
}

Payload Payload::ltoIr(int sm, std::string suffix, Producer producer, std::string bytes) {
  Payload payload;
  payload.kind = PayloadKind::LtoIr;
  payload.sm = sm;
  payload.suffix = std::move(suffix);
  payload.producer = std::move(producer);
  payload.bytes = std::move(bytes);
  return payload;
}

Payload Payload::ptx(int sm, Producer producer, std::string bytes) {
  return linked(PayloadKind::Ptx, sm, "", std::move(producer), std::move(bytes));
}

Payload Payload::linkedLtoIr(int sm, std::string suffix, Producer producer, std::string bytes) {
  return linked(PayloadKind::LinkedLtoIr, sm, std::move(suffix), std::move(producer),
                std::move(bytes));
}

Payload Payload::linked(PayloadKind kind, int sm, std::string suffix, Producer producer,
                        std::string bytes) {
  Payload payload = ltoIr(sm, std::move(suffix), std::move(producer), std::move(bytes));
  payload.kind = kind;
  return payload;
}

Payload Payload::hostBitcode(std::string triple, Producer producer, std::string bytes) {
  Payload payload;
  payload.kind = PayloadKind::HostBitcode;
  payload.triple = std::move(triple);
  payload.producer = std::move(producer);
  payload.bytes = std::move(bytes);
  return payload;
}

Payload Payload::mlirBytecode(Producer producer, std::string bytes) {
  Payload payload;
  payload.producer = std::move(producer);
  payload.bytes = std::move(bytes);
  return payload;
}

std::string Payload::arch() const {
  return isDeviceCode() ? "sm_" + std::to_string(sm) + suffix : triple;
}

static const Payload *newestFor(const Artifact &artifact, PayloadKind kind, int smVersion) {
  const Payload *best = nullptr;
  for (const Payload &payload : artifact.payloads)
    // A suffix (sm_90a) ties code to one architecture: it never serves another.
    if (payload.kind == kind && payload.sm <= smVersion &&
        (payload.suffix.empty() || payload.sm == smVersion) && (!best || payload.sm > best->sm))
      best = &payload;
  return best;
}

const Payload *Artifact::findLtoIr(int smVersion) const {
  return newestFor(*this, PayloadKind::LtoIr, smVersion);
}

const Payload *Artifact::findHooksOfGpu(int smVersion) const {
  const Payload *ltoIr = findLtoIr(smVersion);
  return ltoIr ? ltoIr : newestFor(*this, PayloadKind::Ptx, smVersion);
}

const Payload *Artifact::find(PayloadKind kind) const {
  for (const Payload &payload : payloads)
    if (payload.kind == kind)
      return &payload;
  return nullptr;
}

bool Artifact::hasLinkedCode() const {
  return std::any_of(payloads.begin(), payloads.end(),
                     [](const Payload &payload) { return payload.isLinked(); });
}

std::string serializeArtifact(const Artifact &artifact) {
  const std::string origin = "artifact of metric " + inQuotes(artifact.manifest.name);
  checkManifest(artifact.manifest, origin);
  checkPayloads(artifact, origin);
  List payloads;
  for (const Payload &payload : artifact.payloads)
    payloads.push_back(Bytes{payload.bytes});
  const std::string body =
      toCbor(Map{{"manifest", manifestToFields(artifact)}, {"payloads", std::move(payloads)}});
  // What no reader takes is not written: a path may hold anything.
  if (const CborResult result = checkCbor(body, kBodyLimits); !result)
    refuse(origin, std::string("its manifest cannot be written: ") + result.why);
  const Sha256::Digest digest = Sha256::of(body.data(), body.size());
  // Keys are written in sorted order, so that "annudf" comes first: see kMagic.
  CborText text;
  text.map(3);
  text.string("annudf"), text.number(kContainerVersion);
  text.string("body"), text.binary(body);
  text.string("sha256"),
      text.binary({reinterpret_cast<const char *>(digest.data()), digest.size()});
  return text.take();
}

Artifact parseArtifact(std::string_view bytes, const std::string &origin) {
  checkMagic(bytes, origin);
  // The version comes before the checks of the rest, which a newer container may not meet.
  const size_t versionAt = 1 + kMagic.size();
  if (bytes.size() <= versionAt)
    refuseTruncated(origin, bytes);
  if (const auto version = static_cast<uint8_t>(bytes[versionAt]); version != kContainerVersion) {
    if (version >= 0x1c)
      refuseDamaged(origin, ": its version is not a number");
    refuse(origin, "container version " +
                       (version < 24 ? std::to_string(version) : std::string("above 23")) +
                       ", this annudf reads version " + std::to_string(kContainerVersion) +
                       "; compile the metric again, or update annudf");
  }
  const CborResult container = checkCbor(bytes, kContainerLimits);
  switch (container.check) {
  case CborCheck::Ok:
    break;
  case CborCheck::Truncated:
    refuseTruncated(origin, bytes);
  case CborCheck::Malformed:
  case CborCheck::TooMuch:
    refuseDamaged(origin, placeOf(container));
  }
  const Value outer = fromCbor(bytes);
  // checkMagic() has seen that it is a map.
  const Map &parts = *outer.as<Map>();
  const Value *body = find(parts, "body"), *digest = find(parts, "sha256");
  if (find(parts, "signature"))
    refuse(origin, "carries the key 'signature', which is reserved for a later version; keep "
                   "signatures in a file beside it");
  if (parts.size() != 3 || !body || !digest || !body->as<Bytes>() || !digest->as<Bytes>())
    refuseDamaged(origin, ": it is not a version, a SHA-256 and a body");
  const std::string_view content = body->as<Bytes>()->content;
  const Sha256::Digest actual = Sha256::of(content.data(), content.size());
  if (digest->as<Bytes>()->content !=
      std::string_view(reinterpret_cast<const char *>(actual.data()), actual.size()))
    refuseDamaged(origin, ": the SHA-256 of its content does not match");

  if (const CborResult inner = checkCbor(content, kBodyLimits); !inner)
    refuseContent(origin, "the body is wrong" + placeOf(inner));
  const Value fields = fromCbor(content);
  const Map *map = fields.as<Map>();
  const Value *manifest = map ? find(*map, "manifest") : nullptr;
  const Value *held = map ? find(*map, "payloads") : nullptr;
  if (!manifest || !held || !held->as<List>())
    refuseContent(origin, "the body does not hold a manifest and payloads");
  if (map->size() != 2)
    refuseContent(origin, "the body holds more than a manifest and payloads");
  const List &payloads = *held->as<List>();
  std::vector<uint64_t> sizes;
  std::vector<std::string> digests;
  Artifact artifact = manifestFromFields(*manifest, origin, sizes, digests);
  if (payloads.size() != artifact.payloads.size())
    refuseContent(origin, "the manifest names " + std::to_string(artifact.payloads.size()) +
                              " payloads, the file holds " + std::to_string(payloads.size()));
  for (size_t i = 0; i < artifact.payloads.size(); ++i) {
    const Bytes *payload = payloads[i].as<Bytes>();
    const std::string which = "payload " + std::to_string(i);
    if (!payload)
      refuseContent(origin, which + " is not a byte string");
    const std::string_view content = payload->content;
    if (content.size() != sizes[i])
      refuseContent(origin, which + " has " + std::to_string(content.size()) +
                                " bytes, the manifest says " + std::to_string(sizes[i]));
    if (sha256Hex(content) != digests[i])
      refuseContent(origin, which + " does not have the SHA-256 that the manifest gives");
    artifact.payloads[i].bytes = content;
  }
  return artifact;
}

Artifact readArtifact(const std::string &path) {
  return parseArtifact(readFile(path, kMaxArtifactSize), path);
}

void writeArtifact(const Artifact &artifact, const std::string &path) {
  writeFile(path, serializeArtifact(artifact));
}

} // namespace annudf
