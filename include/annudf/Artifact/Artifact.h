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

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Support/Error.h"
#include "annudf/Support/Sha256.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annudf {

/// One symbolic extent; `constant` counts only for ANNUDF_EXTENT_CONSTANT.
struct CaptureExtent {
  annudf_extent kind = ANNUDF_EXTENT_DIM;
  int64_t constant = 0;
};

/// A value the user binds before a search. Slot i of annudf_slots is capture i.
struct CaptureInfo {
  std::string name;
  std::string element;                ///< "f32", "f64", "i32", "u32", ...
  std::vector<CaptureExtent> extents; ///< Empty for a scalar.
};

enum class PayloadKind { LtoIr, HostBitcode, MlirBytecode };

struct Payload {
  PayloadKind kind = PayloadKind::MlirBytecode;
  std::string arch;     ///< "sm_90" for LTO-IR, the target triple for host bitcode.
  std::string producer; ///< "libnvvm 13.0", "llvm 22.1.8", ...
  std::string bytes;
};

/// What a scan must know of a metric before it links it.
struct Manifest {
  std::string abiId = ANNUDF_ABI_ID;
  uint32_t abiMajor = ANNUDF_ABI_MAJOR;
  uint32_t abiMinor = ANNUDF_ABI_MINOR;
  uint64_t requiredFeatures = 0;
  std::string name;
  annudf_order order = ANNUDF_ORDER_MIN;
  annudf_coarse coarse = ANNUDF_COARSE_L2;
  annudf_order coarseOrder = ANNUDF_ORDER_MIN;
  annudf_accumulator accumulator = ANNUDF_ACCUMULATOR_F32;
  std::string computeType; ///< Type in which the body sees a coordinate: "f32", "f64", "i32".
  std::vector<annudf_element> elements;
  int32_t dims = 0; ///< 0: any.
  std::vector<std::string> hooks;
  std::vector<CaptureInfo> captures;
  std::string sourceFile;
  uint32_t sourceLine = 0;
  std::string annudfVersion;
  std::string llvmVersion;
  /// The code was taken on trust: prototypes were checked, what the hooks do was not.
  bool trusted = false;

  /// Width of the accumulator word, 32 or 64: picks the hooks' names.
  int accumulatorWidth() const { return accumulator == ANNUDF_ACCUMULATOR_F64 ? 64 : 32; }
  bool accepts(annudf_element element) const;
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

/// Spellings used in manifests, messages and the dialect.
const char *toString(annudf_element);
const char *toString(annudf_order);
const char *toString(annudf_coarse);
const char *toString(annudf_accumulator);
/// Bytes of one coordinate.
int elementSize(annudf_element);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_ARTIFACT_H
