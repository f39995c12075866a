//===- ManifestFields.h - The manifest as CBOR map and back --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ARTIFACT_MANIFESTFIELDS_H
#define ANNUDF_LIB_ARTIFACT_MANIFESTFIELDS_H

#include "Value.h"
#include "annudf/Artifact/Artifact.h"

namespace annudf {

/// The "manifest" map of docs/spec/artifact.md, payload entries included.
Map manifestToFields(const Artifact &artifact);

/// \throws Error(Input) naming `origin` and the field at fault. Payload entries are
/// returned without bytes; `sizes` and `digests` are what the file declares of each.
Artifact manifestFromFields(const Value &fields, const std::string &origin,
                            std::vector<uint64_t> &sizes, std::vector<std::string> &digests);

/// What must hold of a manifest whatever its encoding; read and write share it.
/// \throws Error(Input) naming `origin`.
void checkManifest(const Manifest &manifest, const std::string &origin);
/// The same of the payloads' descriptions.
void checkPayloads(const Artifact &artifact, const std::string &origin);


} // namespace annudf

#endif // ANNUDF_LIB_ARTIFACT_MANIFESTFIELDS_H
