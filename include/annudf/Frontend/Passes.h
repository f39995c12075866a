//===- Passes.h - Passes on what a frontend emits -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_FRONTEND_PASSES_H
#define ANNUDF_FRONTEND_PASSES_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace annudf {

/// Adds the dialects of the frontend form (docs/spec/frontend-form.md). A context that reads
/// one needs them loaded before `ir::parseModule`.
void registerFrontendDialects(mlir::DialectRegistry &registry);

#define GEN_PASS_DECL
#include "annudf/Frontend/Passes.h.inc"

/// registerFrontendPasses() makes them known to a tool's command line.
#define GEN_PASS_REGISTRATION
#include "annudf/Frontend/Passes.h.inc"

} // namespace annudf

#endif // ANNUDF_FRONTEND_PASSES_H
