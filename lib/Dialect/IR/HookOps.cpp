//===- HookOps.cpp - What all hooks are, and each takes and yields -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookOps.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "annudf/ABI/annudf_abi.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

std::string ir::listTypes(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(types, os, [&](Type type) { os << "'" << type << "'"; });
  return types.empty() ? "nothing" : text;
}

ParseResult ir::parseHook(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::OptionalParen,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void ir::printHook(OpAsmPrinter &printer, Operation *op) {
  Region &region = op->getRegion(0);
  if (region.getNumArguments() != 0) {
    printer << " (";
    llvm::interleaveComma(region.getArguments(), printer,
                          [&](BlockArgument argument) { printer.printRegionArgument(argument); });
    printer << ")";
  }
  printer.printOptionalAttrDictWithKeyword(op->getAttrs());
  printer << ' ';
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

LogicalResult ir::verifyHookBody(Operation *op) {
  Region &region = op->getRegion(0);
  if (region.getBlocks().size() > 1)
    return op->emitOpError() << "[H9] has " << region.getBlocks().size()
                             << " blocks; write branches with scf.if and loops with scf.for";
  // One in the middle has a message of its own.
  if (region.empty() || llvm::none_of(region.front(), llvm::IsaPred<YieldOp>))
    return op->emitOpError() << "[H2] has no value; end it with annudf.yield";
  return success();
}

/// An accumulator of up to ANNUDF_MAX_FIELDS fields, if the hook takes one, and `others`.
static LogicalResult verifyHookShape(Operation *op, bool takesAccumulator, unsigned others,
                                     StringRef signature) {
  const unsigned found = op->getRegion(0).getNumArguments();
  const unsigned least = others + takesAccumulator;
  const unsigned most = takesAccumulator ? others + ANNUDF_MAX_FIELDS : others;
  if (found >= least && found <= most)
    return success();
  if (found > most && takesAccumulator)
    return op->emitOpError() << "[H10] takes an accumulator of " << found - others
                             << " fields; the ABI has " << int(ANNUDF_MAX_FIELDS) << " at most";
  return op->emitOpError() << "[H1] takes " << least << " argument" << (least == 1 ? "" : "s")
                           << " " << signature << (takesAccumulator ? " or more" : "") << ", found "
                           << found;
}

LogicalResult InitOp::verifyRegions() { return verifyHookShape(*this, false, 0, "()"); }

LogicalResult UpdateOp::verifyRegions() {
  if (failed(verifyHookShape(*this, true, 2, "(acc, x, y)")))
    return failure();
  Block &block = getBody().front();
  const TypeRange arguments = block.getArgumentTypes(), acc = arguments.drop_back(2);
  Type x = arguments.drop_back().back(), y = arguments.back();
  for (Type field : acc)
    if (!isTypeOf<annudf_accumulator>(field))
      return emitOpError() << "[H3] has an accumulator of type " << field
                           << "; use f32, f64, i32 or i64";
  if (x != y)
    return emitOpError() << "[H4] takes x as " << x << " and y as " << y << "; give both one type";
  if (!isTypeOf<annudf_compute>(x))
    return emitOpError() << "[H5] takes coordinates as " << x << "; use f32, f64 or i32";
  const TypeRange yielded = block.getTerminator()->getOperandTypes();
  if (yielded != acc)
    return emitOpError() << "[H6] yields " << listTypes(yielded) << "; yield the accumulator's type"
                         << (acc.size() == 1 ? "" : "s") << ", " << listTypes(acc);
  return success();
}

LogicalResult FinalizeOp::verifyRegions() {
  if (failed(verifyHookShape(*this, true, 0, "(acc)")))
    return failure();
  const TypeRange yielded = getBody().front().getTerminator()->getOperandTypes();
  if (yielded.size() != 1 || !yielded.front().isF32())
    return emitOpError() << "[H7] yields " << listTypes(yielded) << "; yield the distance as f32";
  return success();
}

/// What it takes depends on update's accumulator: the metric looks at both.
LogicalResult CombineOp::verifyRegions() { return success(); }

LogicalResult KeepOp::verifyRegions() {
  if (const unsigned found = getBody().getNumArguments(); found != 0)
    return emitOpError() << "[K3] takes " << found << " argument" << (found == 1 ? "" : "s")
                         << ", but a filter sees no coordinates; take none, and read "
                            "annudf.index row";
  const TypeRange yielded = getBody().front().getTerminator()->getOperandTypes();
  if (yielded.size() != 1 || !yielded.front().isInteger(1))
    return emitOpError() << "[K4] yields " << listTypes(yielded)
                         << "; yield one i1, true where the row may be found";
  return success();
}

StringRef InitOp::getHookName() { return "init"; }
StringRef UpdateOp::getHookName() { return "update"; }
StringRef FinalizeOp::getHookName() { return "finalize"; }
StringRef CombineOp::getHookName() { return "combine"; }
StringRef KeepOp::getHookName() { return "keep"; }

/// init may be called once for many rows, and only update for one coordinate.
static bool hasIndexOf(annudf_hook hook, ScanIndex kind) {
  switch (kind) {
  case ScanIndex::Dim:
    return hook == ANNUDF_HOOK_UPDATE;
  case ScanIndex::Row:
    return hook != ANNUDF_HOOK_INIT;
  case ScanIndex::Dims:
  case ScanIndex::Query:
  case ScanIndex::List:
    return true;
  }
  llvm_unreachable("an index that the dialect does not have");
}
bool InitOp::hasIndex(ScanIndex kind) { return hasIndexOf(ANNUDF_HOOK_INIT, kind); }
bool UpdateOp::hasIndex(ScanIndex kind) { return hasIndexOf(ANNUDF_HOOK_UPDATE, kind); }
bool FinalizeOp::hasIndex(ScanIndex kind) { return hasIndexOf(ANNUDF_HOOK_FINALIZE, kind); }
bool CombineOp::hasIndex(ScanIndex kind) { return hasIndexOf(ANNUDF_HOOK_COMBINE, kind); }

/// No default: a new index has to say whether a filter, which sees no coordinates, can read it.
bool KeepOp::hasIndex(ScanIndex kind) {
  switch (kind) {
  case ScanIndex::Dims:
  case ScanIndex::Row:
  case ScanIndex::Query:
  case ScanIndex::List:
    return true;
  case ScanIndex::Dim:
    return false;
  }
  llvm_unreachable("an index that the dialect does not have");
}
