//===- Annudf.h - The annudf dialect: attributes, types, ops -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_DIALECT_IR_ANNUDF_H
#define ANNUDF_DIALECT_IR_ANNUDF_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "annudf/Dialect/IR/AnnudfDialect.h.inc"
#include "annudf/Dialect/IR/AnnudfEnums.h.inc"
#include "annudf/Dialect/IR/AnnudfInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "annudf/Dialect/IR/AnnudfTypes.h.inc"

namespace annudf::ir {
class CaptureOp;
class FinalizeOp;
class InitOp;
class UpdateOp;
} // namespace annudf::ir

#define GET_OP_CLASSES
#include "annudf/Dialect/IR/AnnudfOps.h.inc"

#endif // ANNUDF_DIALECT_IR_ANNUDF_H
