//===- CaptureValues.h - Values for captures, from text -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What annudf-inline-captures takes on its command line, checked against a capture.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_TRANSFORMS_CAPTUREVALUES_H
#define ANNUDF_LIB_DIALECT_TRANSFORMS_CAPTUREVALUES_H

#include "annudf/Dialect/IR/Annudf.h"

namespace annudf {

/// Parses `p = 3.0 : f32, ...`, with or without braces around it; empty text is an
/// empty dictionary. Errors [I1] and [I2] are emitted at `module`.
mlir::FailureOr<mlir::DictionaryAttr> parseCaptureValues(llvm::StringRef text,
                                                         mlir::ModuleOp module);

/// Whether `value` can be baked into `capture`, whose metric is for `dims` dimensions
/// (0: open). A non-uniform array may have at most `maxArray` entries.
mlir::LogicalResult checkCaptureValue(ir::CaptureOp capture, mlir::TypedAttr value, int64_t dims,
                                      int64_t maxArray);

/// What every load of `capture` gives, if it is the same for all indices; else null.
mlir::TypedAttr getUniformValue(ir::CaptureOp capture);

} // namespace annudf

#endif // ANNUDF_LIB_DIALECT_TRANSFORMS_CAPTUREVALUES_H
