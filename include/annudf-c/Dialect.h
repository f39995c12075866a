/*===- annudf-c/Dialect.h - The dialect and its passes, for MLIR's C API --------*- C -*-===*\
|*                                                                                          *|
|* Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                                     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                                  *|
|*                                                                                          *|
|* For programs that use MLIR themselves (CMake: COMPONENTS MLIR, annudf::AnnudfCAPI).      *|
|* libannudf has none of it: there LLVM and MLIR are out of sight.                          *|
|*                                                                                          *|
\*===------------------------------------------------------------------------------------===*/

#ifndef ANNUDF_C_DIALECT_H
#define ANNUDF_C_DIALECT_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** `mlirGetDialectHandle__annudf__()`. Loading it loads what bodies are written in: arith, func,
 *  math and scf. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Annudf, annudf);

/** Everything that a text with metrics may hold: the dialect, those of bodies and of the lowered
 *  form, and those of the frontend form (docs/spec/frontend-form.md). */
MLIR_CAPI_EXPORTED void mlirRegisterAnnudfDialects(MlirDialectRegistry registry);

/** Every pass and every pipeline whose name begins with `annudf-`, for mlirParsePassPipeline. May
 * be called again. */
MLIR_CAPI_EXPORTED void mlirRegisterAnnudfPasses(void);

#ifdef __cplusplus
}
#endif

/* One by one: mlirCreateAnnudfTransformsVerifyABIPass() makes a pass, and
 * mlirRegisterAnnudfTransformsVerifyABIPass() makes it known by its name. */
#include "annudf/Conversion/Conversion.capi.h.inc"
#include "annudf/Dialect/Transforms/Transforms.capi.h.inc"
#include "annudf/Frontend/Frontend.capi.h.inc"

#endif /* ANNUDF_C_DIALECT_H */
