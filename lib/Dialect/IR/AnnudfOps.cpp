//===- AnnudfOps.cpp - Operations of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Descriptor.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <map>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

//===----------------------------------------------------------------------===//
// Syntax shared by several ops
//===----------------------------------------------------------------------===//

static constexpr unsigned lastCase(Order) { return getMaxEnumValForOrder(); }
static constexpr unsigned lastCase(Coarse) { return getMaxEnumValForCoarse(); }
static constexpr unsigned lastCase(Element) { return getMaxEnumValForElement(); }
static constexpr unsigned lastCase(Accumulator) { return getMaxEnumValForAccumulator(); }
static constexpr unsigned lastCase(Numerics) { return getMaxEnumValForNumerics(); }
static constexpr unsigned lastCase(IndexKind) { return getMaxEnumValForIndexKind(); }

/// The spellings of an enum: "f32, f64, i32 or u32".
template <typename Enum> static std::string choices() {
  std::string text;
  for (unsigned value = 0, last = lastCase(Enum()); value <= last; ++value)
    text += (value == 0      ? ""
             : value == last ? " or "
                             : ", ") +
            stringifyEnum(static_cast<Enum>(value)).str();
  return text;
}

/// Whether a table keeps a spelling for a later version.
template <typename Enum> static bool isReserved(StringRef keyword) {
  const Table *table = std::is_same_v<Enum, Element>       ? &tableOf<annudf_element>()
                       : std::is_same_v<Enum, Accumulator> ? &tableOf<annudf_accumulator>()
                       : std::is_same_v<Enum, Coarse>      ? &tableOf<annudf_coarse>()
                                                           : nullptr;
  return table && table->find(std::string_view(keyword)) != nullptr;
}

/// An enum attribute as its bare keyword: `min` rather than `#annudf.order<min>`.
template <typename AttrT> static ParseResult parseKeyword(OpAsmParser &parser, AttrT &attr) {
  using Enum = decltype(attr.getValue());
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Enum> value = symbolizeEnum<Enum>(keyword);
  if (!value && isReserved<Enum>(keyword))
    return parser.emitError(loc) << AttrT::getMnemonic() << " '" << keyword
                                 << "' is reserved for a later version; write " << choices<Enum>();
  if (!value)
    return parser.emitError(loc, "unknown ")
           << AttrT::getMnemonic() << " '" << keyword << "'; write " << choices<Enum>();
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

template <typename AttrT> static void printKeyword(OpAsmPrinter &printer, Operation *, AttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

static ParseResult parseCoarsePolicy(OpAsmParser &parser, CoarseAttr &coarse, OrderAttr &order) {
  if (parseKeyword(parser, coarse))
    return failure();
  for (unsigned value = 0; value <= getMaxEnumValForOrder(); ++value)
    if (const auto keyword = static_cast<Order>(value);
        succeeded(parser.parseOptionalKeyword(stringifyEnum(keyword))))
      order = OrderAttr::get(parser.getContext(), keyword);
  return success();
}

static void printCoarsePolicy(OpAsmPrinter &printer, Operation *, CoarseAttr coarse,
                              OrderAttr order) {
  printer << stringifyEnum(coarse.getValue());
  if (order)
    printer << ' ' << stringifyEnum(order.getValue());
}

static ParseResult parseElements(OpAsmParser &parser, ArrayAttr &elements) {
  SmallVector<Attribute> values;
  auto parseOne = [&]() -> ParseResult {
    ElementAttr element;
    if (parseKeyword(parser, element))
      return failure();
    values.push_back(element);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  elements = parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printElements(OpAsmPrinter &printer, Operation *, ArrayAttr elements) {
  llvm::interleaveComma(elements.getAsRange<ElementAttr>(), printer,
                        [&](ElementAttr e) { printer << stringifyEnum(e.getValue()); });
}

static ParseResult parseDimsValue(OpAsmParser &parser, IntegerAttr &dims) {
  int32_t value = 0;
  if (parser.parseInteger(value))
    return failure();
  dims = parser.getBuilder().getI32IntegerAttr(value);
  return success();
}

static void printDimsValue(OpAsmPrinter &printer, Operation *, IntegerAttr dims) {
  printer << dims.getInt();
}

//===----------------------------------------------------------------------===//
// MetricOp
//===----------------------------------------------------------------------===//

template <typename OpT> static OpT firstOf(MetricOp metric) {
  auto ops = metric.getBody().front().getOps<OpT>();
  return ops.empty() ? OpT() : *ops.begin();
}

InitOp MetricOp::getInit() { return firstOf<InitOp>(*this); }
UpdateOp MetricOp::getUpdate() { return firstOf<UpdateOp>(*this); }
FinalizeOp MetricOp::getFinalize() { return firstOf<FinalizeOp>(*this); }

SmallVector<CaptureOp> MetricOp::getCaptures() {
  return llvm::to_vector(getBody().front().getOps<CaptureOp>());
}

Type MetricOp::getAccumulatorType() { return getUpdate().getBody().getArgument(0).getType(); }
Type MetricOp::getComputeType() { return getUpdate().getBody().getArgument(1).getType(); }

Accumulator MetricOp::getAccumulatorKind() {
  if (std::optional<Accumulator> declared = getAccumulator())
    return *declared;
  // Rule H3 leaves the types of rows, and a signless integer is signed.
  for (unsigned value = 0; value <= getMaxEnumValForAccumulator(); ++value)
    if (const auto row = static_cast<annudf_accumulator>(value);
        kindOf(row) != NumberKind::Unsigned && typeOf(row, getContext()) == getAccumulatorType())
      return static_cast<Accumulator>(value);
  llvm_unreachable("the accumulator's type was not verified");
}

Order MetricOp::getEffectiveCoarseOrder() {
  if (std::optional<Order> declared = getCoarseOrder())
    return *declared;
  return static_cast<Order>(naturalOrder(static_cast<annudf_coarse>(getCoarse())));
}

/// How many of a hook a metric holds. No default: a new hook has its rule here.
static LogicalResult verifyCount(MetricOp metric, annudf_hook hook, int found) {
  switch (hook) {
  case ANNUDF_HOOK_INIT:
    if (found != 1)
      return metric.emitOpError() << "[M2] needs exactly one annudf.init, found " << found
                                  << (found == 0 ? "; write one" : "; keep one");
    return success();
  case ANNUDF_HOOK_UPDATE:
    if (found != 1)
      return metric.emitOpError() << "[M3] needs exactly one annudf.update, found " << found
                                  << (found == 0 ? "; write one" : "; keep one");
    return success();
  case ANNUDF_HOOK_FINALIZE:
    if (found > 1)
      return metric.emitOpError() << "[M4] needs at most one annudf.finalize, found " << found
                                  << "; keep one";
    return success();
  }
  llvm_unreachable("a hook that the tables do not have");
}

/// Structure only: which ops a metric holds and that their types agree. What a
/// body may do is the business of annudf-verify-abi.
LogicalResult MetricOp::verifyRegions() {
  std::map<annudf_hook, int> found;
  llvm::SmallDenseSet<StringRef> names;
  for (Operation &op : getBody().front()) {
    if (auto capture = dyn_cast<CaptureOp>(op)) {
      if (!names.insert(capture.getName()).second)
        return capture.emitOpError()
               << "[M7] \"" << capture.getName() << "\" is declared twice; rename one";
    } else if (auto hook = dyn_cast<HookOpInterface>(op)) {
      ++found[hookOf(hook)];
    } else {
      return op.emitOpError() << "[M1] cannot stand in a metric; only captures and hooks can, so "
                                 "move it into the hook that uses it";
    }
  }
  for (const TableRow &row : tableOf<annudf_hook>().rows)
    if (row.since != TableRow::kReserved &&
        failed(verifyCount(*this, static_cast<annudf_hook>(row.value),
                           found[static_cast<annudf_hook>(row.value)])))
      return failure();
  if (getElements().empty())
    return emitOpError() << "[M5] needs at least one element type; list some in elements(...)";
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute element : getElements())
    if (!seen.insert(element).second)
      return emitOpError() << "[M6] lists element type "
                           << stringifyEnum(cast<ElementAttr>(element).getValue())
                           << " twice; list it once";
  if (getDims() && static_cast<int32_t>(*getDims()) <= 0)
    return emitOpError() << "[M8] is for " << static_cast<int32_t>(*getDims())
                         << " dimensions; dims must be positive";

  auto [init, update, finalize] = std::tuple(getInit(), getUpdate(), getFinalize());
  Type acc = getAccumulatorType();
  if (std::optional<Accumulator> declared = getAccumulator())
    if (typeOf(static_cast<annudf_accumulator>(*declared), getContext()) != acc)
      return emitOpError() << "[M9] declares accumulator(" << stringifyEnum(*declared)
                           << "), which does not fit the accumulator of annudf.update, " << acc
                           << "; change one";
  Type initial = init.getBody().front().getTerminator()->getOperand(0).getType();
  if (initial != acc)
    return init.emitOpError() << "[M10] yields " << initial
                              << ", but the accumulator of annudf.update is " << acc
                              << "; yield that";
  if (finalize && finalize.getBody().getArgument(0).getType() != acc)
    return finalize.emitOpError() << "[M11] takes " << finalize.getBody().getArgument(0).getType()
                                  << ", but the accumulator of annudf.update is " << acc
                                  << "; take that";
  return success();
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

/// `(%a: t, ...)`, absent for a hook without arguments, then the region.
static ParseResult parseHook(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::OptionalParen,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

static void printHook(OpAsmPrinter &printer, Operation *op) {
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

/// Before the ops of the body, whose own messages would be about something else.
static LogicalResult verifyHookBody(Operation *op) {
  Region &region = op->getRegion(0);
  if (region.getBlocks().size() > 1)
    return op->emitOpError() << "[H9] has " << region.getBlocks().size()
                             << " blocks; write branches with scf.if and loops with scf.for";
  // One in the middle has a message of its own.
  if (region.empty() || llvm::none_of(region.front(), llvm::IsaPred<YieldOp>))
    return op->emitOpError() << "[H2] has no value; end it with annudf.yield";
  return success();
}

static LogicalResult verifyHookShape(Operation *op, unsigned arguments, StringRef signature) {
  Region &region = op->getRegion(0);
  if (region.getNumArguments() != arguments)
    return op->emitOpError() << "[H1] takes " << arguments << " argument"
                             << (arguments == 1 ? "" : "s") << " " << signature << ", found "
                             << region.getNumArguments();
  return success();
}

LogicalResult InitOp::verify() { return verifyHookBody(*this); }
LogicalResult UpdateOp::verify() { return verifyHookBody(*this); }
LogicalResult FinalizeOp::verify() { return verifyHookBody(*this); }

LogicalResult InitOp::verifyRegions() { return verifyHookShape(*this, 0, "()"); }

LogicalResult UpdateOp::verifyRegions() {
  if (failed(verifyHookShape(*this, 3, "(acc, x, y)")))
    return failure();
  Block &block = getBody().front();
  Type acc = block.getArgument(0).getType(), x = block.getArgument(1).getType(),
       y = block.getArgument(2).getType();
  if (!isTypeOf<annudf_accumulator>(acc))
    return emitOpError() << "[H3] has an accumulator of type " << acc << "; use f32, f64 or i32";
  if (x != y)
    return emitOpError() << "[H4] takes x as " << x << " and y as " << y << "; give both one type";
  if (!isTypeOf<annudf_compute>(x))
    return emitOpError() << "[H5] takes coordinates as " << x << "; use f32, f64 or i32";
  Type yielded = block.getTerminator()->getOperand(0).getType();
  if (yielded != acc)
    return emitOpError() << "[H6] yields " << yielded << "; yield the accumulator's type, " << acc;
  return success();
}

LogicalResult FinalizeOp::verifyRegions() {
  if (failed(verifyHookShape(*this, 1, "(acc)")))
    return failure();
  Type yielded = getBody().front().getTerminator()->getOperand(0).getType();
  if (!yielded.isF32())
    return emitOpError() << "[H7] yields " << yielded << "; yield the distance as f32";
  return success();
}

StringRef InitOp::getHookName() { return "init"; }
StringRef UpdateOp::getHookName() { return "update"; }
StringRef FinalizeOp::getHookName() { return "finalize"; }
Block *InitOp::getHookBlock() { return &getBody().front(); }
Block *UpdateOp::getHookBlock() { return &getBody().front(); }
Block *FinalizeOp::getHookBlock() { return &getBody().front(); }
bool InitOp::hasDimIndex() { return false; }
bool UpdateOp::hasDimIndex() { return true; }
bool FinalizeOp::hasDimIndex() { return false; }
ParseResult InitOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseHook(parser, result);
}
ParseResult UpdateOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseHook(parser, result);
}
ParseResult FinalizeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseHook(parser, result);
}
void InitOp::print(OpAsmPrinter &printer) { printHook(printer, *this); }
void UpdateOp::print(OpAsmPrinter &printer) { printHook(printer, *this); }
void FinalizeOp::print(OpAsmPrinter &printer) { printHook(printer, *this); }

//===----------------------------------------------------------------------===//
// CaptureOp, IndexOp, LoadOp
//===----------------------------------------------------------------------===//

LogicalResult CaptureOp::verify() {
  if (getName().empty())
    return emitOpError() << "[C1] has no name; give it one";
  std::optional<TypedAttr> value = getValue();
  if (!value)
    return success();
  CaptureType type = getType();
  if (type.isScalar()) {
    // A string can have type f32 too.
    if (value->getType() != type.getElementType() || !isa<FloatAttr, IntegerAttr>(*value))
      return emitOpError() << "[C2] has a value of type " << value->getType()
                           << ", which does not fit " << type << "; write a number of type "
                           << type.getElementType();
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(*value);
  if (!dense || !isa<RankedTensorType>(dense.getType()) ||
      dense.getElementType() != type.getElementType() ||
      dense.getType().getRank() != static_cast<int64_t>(type.getExtents().size()))
    return emitOpError() << "[C3] has a value of type " << value->getType()
                         << ", which does not fit " << type
                         << "; write dense<[...]> with one tensor dimension an extent";
  std::optional<uint32_t> dims = getOperation()->getParentOfType<MetricOp>().getDims();
  for (auto [extent, size] : llvm::zip(type.getExtents(), dense.getType().getShape())) {
    if (extent == CaptureType::kDim && (!dims || static_cast<int64_t>(*dims) != size))
      return emitOpError() << "[C4] has a value of " << size
                           << " entries for extent dim; the metric needs dims(" << size << ")";
    if (extent > 0 && extent != size)
      return emitOpError() << "[C5] has a value of " << size << " entries for extent " << extent
                           << "; give it " << extent;
    if (extent < 0 && extent != CaptureType::kDim)
      return emitOpError() << "[C6] has a value, but extent " << CaptureType::spellExtent(extent)
                           << " is not known before a search; drop the value and bind the array";
  }
  return success();
}

void IndexOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), stringifyEnum(getKind()));
}

LogicalResult LoadOp::verify() {
  CaptureType type = getCapture().getType();
  if (getIndices().size() != type.getExtents().size())
    return emitOpError() << "[L1] gives " << getIndices().size()
                         << (getIndices().size() == 1 ? " index" : " indices") << " for " << type
                         << "; give " << type.getExtents().size();
  return success();
}

#define GET_OP_CLASSES
#include "annudf/Dialect/IR/AnnudfOps.cpp.inc"
