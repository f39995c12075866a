//===- Manifest.h - What a scan must know, read off the metric -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_COMPILER_MANIFEST_H
#define ANNUDF_LIB_COMPILER_MANIFEST_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/Dialect/IR/Annudf.h"

namespace annudf::compiler {

/// \param metric  verified, captures inlined.
/// \param withForm  tells what form is proved of it.
Manifest makeManifest(ir::UdfOpInterface udf, bool withForm);

} // namespace annudf::compiler

#endif // ANNUDF_LIB_COMPILER_MANIFEST_H
