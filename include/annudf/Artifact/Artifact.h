//===- Artifact.h - A compiled metric in one file -----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes `.annudf` files. The container is CBOR (RFC 8949): a map
// {"annudf": 1, "sha256": bytes, "body": bytes}; the body is again CBOR, a map
// {"manifest": map, "payloads": [bytes...]}. docs/spec/artifact.md has every field.
// This library knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_ARTIFACT_H
#define ANNUDF_ARTIFACT_ARTIFACT_H

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Support/Error.h"
#include "annudf/Support/Sha256.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annudf {

enum class PayloadKind {
  LtoIr,
  HostBitcode,
  MlirBytecode,
  /// LTO-IR of somebody else, which the hooks call; linked beside every LtoIr that is linked. Only
  /// its function's prototype was checked.
  LinkedLtoIr,
  LinkedPtx,   ///< The same as PTX.
  LinkedCubin, ///< The same as machine code, which serves its architecture alone.
  Ptx,         ///< The hooks as PTX, for linkers without LTO-IR of them: the scan calls them.
};

/// As manifests have it: "linked-lto-ir".
const char *toString(PayloadKind kind);

/// Who made a payload: "libnvvm", "13.0".
struct Producer {
  static constexpr const char *kLibNvvm = "libnvvm"; ///< The compiler's own payloads.

  std::string name;    ///< Letters, digits, `_`.
  std::string version; ///< Numbers with dots between them.

  std::string text() const { return name + " " + version; }
  /// The first two numbers of the version, which must be one.
  std::pair<unsigned, unsigned> release() const;
  bool operator==(const Producer &) const = default;
};

/// Code, or the module that it was made from. Made by the functions below.
struct Payload {
  PayloadKind kind = PayloadKind::MlirBytecode;
  int sm = 0;         ///< LTO-IR, of both kinds: 90 of sm_90a.
  std::string suffix; ///< LTO-IR: "a" or "f" of what serves that architecture alone, else "".
  std::string triple; ///< Host bitcode: the target triple.
  Producer producer;
  std::string bytes;

  static Payload ltoIr(int sm, std::string suffix, Producer producer, std::string bytes);
  static Payload ptx(int sm, Producer producer, std::string bytes);
  static Payload linkedLtoIr(int sm, std::string suffix, Producer producer, std::string bytes);
  static Payload hostBitcode(std::string triple, Producer producer, std::string bytes);
  static Payload mlirBytecode(Producer producer, std::string bytes);

  static Payload linked(PayloadKind kind, int sm, std::string suffix, Producer producer,
                        std::string bytes);

  /// Whether it is code of somebody else, which nobody verified.
  bool isLinked() const {
    return kind == PayloadKind::LinkedLtoIr || kind == PayloadKind::LinkedPtx ||
           kind == PayloadKind::LinkedCubin;
  }
  /// Whether it is for a GPU, so that it has `sm` and `suffix`.
  bool isDeviceCode() const { return isHooksOfGpu() || isLinked(); }
  /// Whether a GPU's scan is linked with it.
  bool isHooksOfGpu() const { return kind == PayloadKind::LtoIr || kind == PayloadKind::Ptx; }
  /// "sm_90a", the triple, or "": for people.
  std::string arch() const;
};

/// Edition of the rules of docs/spec/rules.md: one more whenever a rule is added or refuses more.
/// Which rules an edition has is recorded there; scripts/check diagnostics compares them.
inline constexpr uint32_t kRulesEdition = 1;

/// What checked that a metric keeps the rules. Code itself carries no proof of it: a file
/// deserves the trust of whoever sent it, and `annudf verify` makes the code again.
struct Verification {
  uint32_t rules = kRulesEdition; ///< The edition that the metric was checked by.
  std::string version;            ///< The annudf that checked it.
  bool operator==(const Verification &) const = default;
};

/// What a scan must know of a metric before it links it: the metric itself, the ABI that its
/// code speaks, and where it comes from.
struct Manifest : MetricDescriptor {
  std::string abiId = ANNUDF_ABI_ID;
  uint32_t abiMajor = ANNUDF_ABI_MAJOR;
  uint32_t abiMinor = 0; ///< minorOf(): of what a metric uses, not of who writes it.
  uint64_t requiredFeatures = 0;
  std::string sourceFile;
  uint32_t sourceLine = 0;
  std::string annudfVersion;
  std::string llvmVersion;
  /// Missing where the code was taken on trust: its prototypes were checked, what the hooks do
  /// was not.
  std::optional<Verification> verified;
};

struct Artifact {
  Manifest manifest;
  std::vector<Payload> payloads;

  /// LTO-IR for `sm_XY`, else nullptr. The newest family not above XY is taken
  /// (LTO-IR of an older architecture links for a newer one).
  const Payload *findLtoIr(int smVersion) const;
  /// LTO-IR for `sm_XY` by the same rule, else PTX for it, else nullptr.
  const Payload *findHooksOfGpu(int smVersion) const;
  const Payload *find(PayloadKind kind) const;
  /// Whether the hooks call code of somebody else.
  bool hasLinkedCode() const;
};

/// A fat artifact of nine architectures has well under 1 MiB.
inline constexpr uint64_t kMaxArtifactSize = uint64_t(1) << 30;

/// Bytes of a file. The digest covers the manifest and every payload.
std::string serializeArtifact(const Artifact &artifact);

/// \throws Error(Input) naming `origin` and the fault: truncated, foreign,
/// damaged (digest), of a newer ABI or container, or not what its own metric needs.
Artifact parseArtifact(std::string_view bytes, const std::string &origin);

Artifact readArtifact(const std::string &path);
/// Writes to a temporary beside `path` and renames: no half file, ever.
void writeArtifact(const Artifact &artifact, const std::string &path);

/// The manifest for programs (`annudf inspect --json`), with payload sizes and digests.
std::string manifestToJson(const Artifact &artifact);
/// The manifest for people.
std::string manifestToText(const Artifact &artifact, const std::string &origin);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_ARTIFACT_H
