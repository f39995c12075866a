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
// {"manifest": map, "payloads": [bytes...]}. docs/artifact.md has every field.
// This library knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_ARTIFACT_H
#define ANNUDF_ARTIFACT_ARTIFACT_H

#include "annudf/Artifact/Descriptor.h"
#include "annudf/Support/Error.h"
#include "annudf/Support/Sha256.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annudf {

enum class PayloadKind { LtoIr, HostBitcode, MlirBytecode };

struct Payload {
  PayloadKind kind = PayloadKind::MlirBytecode;
  std::string arch;     ///< "sm_90" for LTO-IR, the target triple for host bitcode.
  std::string producer; ///< "libnvvm 13.0", "llvm 22.1.8", ...
  std::string bytes;
};

/// What a scan must know of a metric before it links it: the metric itself, the ABI that its
/// code speaks, and where it comes from.
struct Manifest : MetricDescriptor {
  std::string abiId = ANNUDF_ABI_ID;
  uint32_t abiMajor = ANNUDF_ABI_MAJOR;
  uint32_t abiMinor = ANNUDF_ABI_MINOR;
  uint64_t requiredFeatures = 0;
  std::string sourceFile;
  uint32_t sourceLine = 0;
  std::string annudfVersion;
  std::string llvmVersion;
  /// The code was taken on trust: prototypes were checked, what the hooks do was not.
  bool trusted = false;
};

struct Artifact {
  Manifest manifest;
  std::vector<Payload> payloads;

  /// LTO-IR for `sm_XY`, else nullptr. The newest family not above XY is taken
  /// (LTO-IR of an older architecture links for a newer one).
  const Payload *findLtoIr(int smVersion) const;
  const Payload *find(PayloadKind kind) const;
};

/// A fat artifact of nine architectures has well under 1 MiB.
inline constexpr uint64_t kMaxArtifactSize = uint64_t(1) << 30;

/// Bytes of a file. The digest covers the manifest and every payload.
std::string serializeArtifact(const Artifact &artifact);

/// \throws Error(Input) naming `origin` and the fault: truncated, foreign,
/// damaged (digest), of a newer ABI or container, unknown required features.
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
