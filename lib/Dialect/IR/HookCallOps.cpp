//===- HookCallOps.cpp - Calls of hooks in kernels ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookOps.h"

#include "annudf/Dialect/IR/HookCaller.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

ParseResult ir::parseScanIndices(OpAsmParser &parser,
                                 std::optional<OpAsmParser::UnresolvedOperand> &dim,
                                 std::optional<OpAsmParser::UnresolvedOperand> &dims,
                                 std::optional<OpAsmParser::UnresolvedOperand> &row,
                                 std::optional<OpAsmParser::UnresolvedOperand> &query,
                                 std::optional<OpAsmParser::UnresolvedOperand> &list) {
  if (failed(parser.parseOptionalKeyword("ctx")))
    return success();
  auto parseOne = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    const std::optional<ScanIndex> kind = symbolizeScanIndex(keyword);
    if (!kind)
      return parser.emitError(loc)
             << "unknown index '" << keyword << "' of ctx; write dim, dims, row, query or list";
    std::optional<OpAsmParser::UnresolvedOperand> &place =
        ofIndex(*kind, dim, dims, row, query, list);
    if (place)
      return parser.emitError(loc) << "ctx gives '" << keyword << "' twice; give it once";
    if (parser.parseEqual() || parser.parseOperand(place.emplace()))
      return failure();
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne);
}

void ir::printScanIndices(OpAsmPrinter &printer, Operation *op, Value, Value, Value, Value, Value) {
  auto call = cast<HookCallOpInterface>(op);
  bool any = false;
  for (unsigned value = 0; value <= getMaxEnumValForScanIndex(); ++value) {
    const auto kind = static_cast<ScanIndex>(value);
    Value given = call.getIndex(kind);
    if (!given)
      continue;
    printer << (any ? ", " : " ctx(") << stringifyEnum(kind) << " = " << given;
    any = true;
  }
  if (any)
    printer << ")";
}

//===----------------------------------------------------------------------===//
// What a call hands over
//===----------------------------------------------------------------------===//

Type ir::memrefElementOf(CaptureType capture) {
  if (capture.getElementType().isBF16())
    return capture.getElementType();
  Type loaded = capture.getLoadType();
  return loaded.isInteger(1) ? IntegerType::get(capture.getContext(), 8) : loaded;
}

/// "memref<?x16xf32>", for messages.
static std::string spellMemref(CaptureType capture) {
  std::string text = "memref<";
  for (int64_t extent : capture.getExtents())
    text += (extent > 0 ? std::to_string(extent) : "?") + "x";
  llvm::raw_string_ostream(text) << memrefElementOf(capture);
  return text + ">";
}

/// How many entries an extent has, where that is known before a search.
static std::optional<int64_t> knownSize(int64_t extent, UdfOpInterface udf) {
  if (extent > 0)
    return extent;
  if (CaptureType::kindOf(extent) == ANNUDF_EXTENT_DIM && udf.getDims())
    return *udf.getDims();
  return std::nullopt;
}

static LogicalResult verifyCapture(HookCallOpInterface call, UdfOpInterface udf, CaptureOp capture,
                                   Type given) {
  CaptureType type = capture.getType();
  if (type.isScalar()) {
    if (given == type.getLoadType())
      return success();
    return call->emitOpError() << "[U7] passes " << given << " for the scalar \""
                               << capture.getName() << "\" of '" << udf.getSymName() << "'; pass "
                               << type.getLoadType();
  }
  auto memref = dyn_cast<MemRefType>(given);
  if (!memref || memref.getElementType() != memrefElementOf(type) ||
      memref.getRank() != static_cast<int64_t>(type.getExtents().size()))
    return call->emitOpError() << "[U8] passes " << given << " for the array \""
                               << capture.getName() << "\" of '" << udf.getSymName() << "', "
                               << type << "; pass " << spellMemref(type);
  for (auto [extent, size] : llvm::zip(type.getExtents(), memref.getShape())) {
    const std::optional<int64_t> known = knownSize(extent, udf);
    if (known && !ShapedType::isDynamic(size) && size != *known)
      return call->emitOpError() << "[U9] passes " << given << " for the array \""
                                 << capture.getName() << "\" of '" << udf.getSymName()
                                 << "', whose extent " << CaptureType::spellExtent(extent)
                                 << " has " << *known << " entries; pass that many";
  }
  return success();
}

SmallVector<ScanIndex> ir::indicesReadIn(Operation *root) {
  llvm::SmallSetVector<ScanIndex, 5> read;
  root->walk([&](IndexOp index) { read.insert(index.getKind()); });
  SmallVector<ScanIndex> sorted = read.takeVector();
  llvm::sort(sorted);
  return sorted;
}

bool ir::readsBoundCapture(HookOpInterface hook) {
  return hook
      ->walk([](LoadOp load) {
        auto capture = load.getCapture().getDefiningOp<CaptureOp>();
        return capture && capture.getValue() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

static LogicalResult verifyCaptures(HookCallOpInterface call, HookOpInterface hook,
                                    UdfOpInterface udf) {
  SmallVector<CaptureOp> bound;
  std::string names;
  for (CaptureOp capture : udf.getCaptures())
    if (!capture.getValue()) {
      bound.push_back(capture);
      names += (names.empty() ? "" : ", ") + capture.getName().str();
    }
  const OperandRange given = call.getCaptures();
  if (given.empty() && !readsBoundCapture(hook))
    return success();
  if (given.size() != bound.size())
    return call->emitOpError() << "[U6] passes another number of captures than '"
                               << udf.getSymName() << "' binds, " << given.size() << " instead of "
                               << bound.size() << "; pass " << (names.empty() ? "none" : names);
  for (auto [capture, value] : llvm::zip(bound, given))
    if (failed(verifyCapture(call, udf, capture, value.getType())))
      return failure();
  return success();
}

/// The hook reads all that is needed, and nothing is given that it cannot have.
static LogicalResult verifyIndices(HookCallOpInterface call, HookOpInterface hook) {
  const SmallVector<ScanIndex> read = indicesReadIn(hook);
  for (unsigned value = 0; value <= getMaxEnumValForScanIndex(); ++value) {
    const auto kind = static_cast<ScanIndex>(value);
    if (call.getIndex(kind) && !hook.hasIndex(kind))
      return call->emitOpError() << "[U5] gives " << stringifyEnum(kind)
                                 << ", which has no meaning in annudf." << hook.getHookName()
                                 << "; leave it out of ctx";
    if (!call.getIndex(kind) && llvm::is_contained(read, kind))
      return call->emitOpError() << "[U4] does not give " << stringifyEnum(kind)
                                 << ", which annudf." << hook.getHookName() << " of "
                                 << call.getCalleeAttr() << " reads; add " << stringifyEnum(kind)
                                 << " to ctx";
  }
  return success();
}

static HookOpInterface findHook(UdfOpInterface udf, StringRef name) {
  if (udf)
    for (auto hook : udf.getBody().getOps<HookOpInterface>())
      if (hook.getHookName() == name)
        return hook;
  return {};
}

HookOpInterface HookCallOpInterface::getHook(SymbolTableCollection &symbols) {
  return findHook(symbols.lookupNearestSymbolFrom<UdfOpInterface>(*this, getCalleeAttr()),
                  getHookName());
}

static LogicalResult verifyHookCall(HookCallOpInterface call, SymbolTableCollection &symbols) {
  const StringRef name = call.getHookName();
  const bool isFilter = isa<CallKeepOp>(call.getOperation());
  auto udf = symbols.lookupNearestSymbolFrom<UdfOpInterface>(call, call.getCalleeAttr());
  if (!udf || (isFilter ? !isa<FilterOp>(udf.getOperation()) : !isa<MetricOp>(udf.getOperation())))
    return call->emitOpError() << "[U1] names " << call.getCalleeAttr() << ", which is no annudf."
                               << (isFilter ? "filter" : "metric")
                               << " of the module that the op stands in; declare it there";
  HookOpInterface hook = findHook(udf, name);
  if (!hook)
    return call->emitOpError() << "[U2] calls annudf." << name << " of " << call.getCalleeAttr()
                               << ", which has none; write the hook, or do without the call";
  Block &body = *hook.getHookBlock();
  const TypeRange takes = body.getArgumentTypes();
  const TypeRange yields = body.getTerminator()->getOperandTypes();
  const TypeRange gives = call->getResultTypes();
  if (call.getValues().getTypes() != takes || gives != yields)
    return call->emitOpError() << "[U3] takes " << listTypes(call.getValues().getTypes())
                               << " and gives " << listTypes(gives) << ", but annudf." << name
                               << " of " << call.getCalleeAttr() << " takes " << listTypes(takes)
                               << " and yields " << listTypes(yields) << "; call it as that";
  if (failed(verifyIndices(call, hook)))
    return failure();
  return verifyCaptures(call, hook, udf);
}

LogicalResult CallInitOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyHookCall(*this, symbols);
}
LogicalResult CallUpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyHookCall(*this, symbols);
}
LogicalResult CallCombineOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyHookCall(*this, symbols);
}
LogicalResult CallFinalizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyHookCall(*this, symbols);
}
LogicalResult CallKeepOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyHookCall(*this, symbols);
}

StringRef CallInitOp::getHookName() { return "init"; }
StringRef CallUpdateOp::getHookName() { return "update"; }
StringRef CallCombineOp::getHookName() { return "combine"; }
StringRef CallFinalizeOp::getHookName() { return "finalize"; }
StringRef CallKeepOp::getHookName() { return "keep"; }
