//===- Manifest.h - What a scan must know, read off the metric -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_MANIFEST_H
#define ANNUDF_LIB_COMPILER_MANIFEST_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/Dialect/IR/Annudf.h"

namespace annudf::compiler {

/// \param metric  verified, captures inlined.
/// \param target  tells what of it is to be proved.
Manifest makeManifest(ir::UdfOpInterface udf, const CodeTarget &target);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_MANIFEST_H
