//===- Verify.h - Is an artifact what this compiler makes? --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A digest finds damage, not malice: whoever writes a file writes its digest. The module
// inside can be verified and lowered again, and then everything else of the file is either
// what comes of it, or is not.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_COMPILER_VERIFY_H
#define ANNUDF_COMPILER_VERIFY_H

#include "annudf/Artifact/Artifact.h"

#include <string>
#include <vector>

namespace annudf {

/// What verifyArtifact() found, each a line.
struct VerifyReport {
  std::vector<std::string> same;      ///< Compared, and equal to the bit.
  std::vector<std::string> different; ///< Compared, and not what this compiler makes.
  std::vector<std::string> unknown;   ///< Not compared, and why.
};

/// Verifies the module inside, lowers it again and compares manifest and code.
/// \throws Error(Input) where there is no module, or the module breaks a rule.
VerifyReport verifyArtifact(const Artifact &artifact, const std::string &origin);

} // namespace annudf

#endif // ANNUDF_COMPILER_VERIFY_H
