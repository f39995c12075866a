//===- Dialect.cpp - The dialect and its passes, for MLIR's C API ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf-c/Dialect.h"

#include "annudf/Conversion/Passes.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Passes.h"
#include "annudf/InitAll.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"

using namespace annudf;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Annudf, annudf, annudf::ir::AnnudfDialect)

void mlirRegisterAnnudfDialects(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
}

void mlirRegisterAnnudfPasses(void) { registerAllPasses(); }

// What tablegen writes names a set of passes by the prefix of its functions.
static void registerAnnudfConversionPasses() { registerConversionPasses(); }
static void registerAnnudfFrontendPasses() { registerFrontendPasses(); }
static void registerAnnudfTransformsPasses() { registerTransformsPasses(); }

#include "annudf/Conversion/Conversion.capi.cpp.inc"
#include "annudf/Dialect/Transforms/Transforms.capi.cpp.inc"
#include "annudf/Frontend/Frontend.capi.cpp.inc"
