//===- Passes.h - Passes on the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_TRANSFORMS_PASSES_H
#define ANNUDF_DIALECT_TRANSFORMS_PASSES_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace annudf {

/// After the name of a distance of whole vectors, in the names of the metrics that
/// annudf-hoist-prepare makes of it.
inline constexpr llvm::StringLiteral kPrepared = "_prepared_";

#define GEN_PASS_DECL
#include "annudf/Dialect/Transforms/Passes.h.inc"

/// annudf-verify-abi with `artifact`: for a module that becomes an artifact.
std::unique_ptr<mlir::Pass> createVerifyABIPass();
std::unique_ptr<mlir::Pass> createVerifyABIPass(VerifyABIPassOptions options);
/// annudf-verify-abi of a module that holds code of others too.
std::unique_ptr<mlir::Pass> createVerifyAnyModulePass();

/// registerTransformsPasses() makes them known to a tool's command line.
#define GEN_PASS_REGISTRATION
#include "annudf/Dialect/Transforms/Passes.h.inc"

} // namespace annudf

#endif // ANNUDF_DIALECT_TRANSFORMS_PASSES_H
