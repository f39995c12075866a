//===- HookOps.h - What all hooks are -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Annudf_HookOp of AnnudfOps.td calls these for every hook.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_DIALECT_IR_HOOKOPS_H
#define ANNUDF_LIB_DIALECT_IR_HOOKOPS_H

#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/IR/OpImplementation.h"

#include <string>

namespace annudf::ir {

/// `(%a: t, ...)`, absent for a hook without arguments, then the region.
mlir::ParseResult parseHook(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printHook(mlir::OpAsmPrinter &printer, mlir::Operation *op);
/// Before the ops of the body, whose own messages would be about something else.
mlir::LogicalResult verifyHookBody(mlir::Operation *op);

/// The one of five that is the index's.
template <class T> T &ofIndex(ScanIndex kind, T &dim, T &dims, T &row, T &query, T &list) {
  switch (kind) {
  case ScanIndex::Dim:
    return dim;
  case ScanIndex::Dims:
    return dims;
  case ScanIndex::Row:
    return row;
  case ScanIndex::Query:
    return query;
  case ScanIndex::List:
    return list;
  }
  llvm_unreachable("an index that the dialect does not have");
}

/// `ctx(dim = %d, dims = %n)`: the indices of the scan that are given, each once.
mlir::ParseResult parseScanIndices(mlir::OpAsmParser &parser,
                                   std::optional<mlir::OpAsmParser::UnresolvedOperand> &dim,
                                   std::optional<mlir::OpAsmParser::UnresolvedOperand> &dims,
                                   std::optional<mlir::OpAsmParser::UnresolvedOperand> &row,
                                   std::optional<mlir::OpAsmParser::UnresolvedOperand> &query,
                                   std::optional<mlir::OpAsmParser::UnresolvedOperand> &list);
void printScanIndices(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value dim,
                      mlir::Value dims, mlir::Value row, mlir::Value query, mlir::Value list);

/// What every UdfOpInterface declares: values are bound by name, and vectors have dimensions.
mlir::LogicalResult verifyDeclarations(UdfOpInterface udf);

/// Element types are listed, each once, and one has a NaN where missing values are taken.
mlir::LogicalResult verifyElementList(mlir::Operation *op, mlir::ArrayAttr elements,
                                      bool takesMissing);

/// A function's body has one argument, and yields one value, for every number of `types`.
llvm::SmallVector<mlir::Type> bodyTypes(llvm::ArrayRef<mlir::Type> types);

/// "'f32', 'f32'", for messages.
std::string listTypes(mlir::TypeRange types);

} // namespace annudf::ir

#endif // ANNUDF_LIB_DIALECT_IR_HOOKOPS_H
