//===- AnnudfOps.cpp - Operations of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Descriptor.h"

#include "HookOps.h"

#include "annudf/ABI/annudf_abi.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

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
static constexpr unsigned lastCase(ScanIndex) { return getMaxEnumValForScanIndex(); }
static constexpr unsigned lastCase(Convention) { return getMaxEnumValForConvention(); }
static constexpr unsigned lastCase(LinkKind) { return getMaxEnumValForLinkKind(); }
static constexpr unsigned lastCase(ExternConvention) { return getMaxEnumValForExternConvention(); }

/// The spellings of an enum that can be written: "f32, f64, i32, u32 or i64". A struct is written
/// as the list of its fields, and stands last.
template <typename Enum> static std::string choices() {
  std::string text;
  const unsigned last = lastCase(Enum()) - std::is_same_v<Enum, Accumulator>;
  for (unsigned value = 0; value <= last; ++value)
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

template <typename AttrT>
static ParseResult parseKeywords(OpAsmParser &parser, SmallVectorImpl<Attribute> &values) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    AttrT value;
    if (parseKeyword(parser, value))
      return failure();
    values.push_back(value);
    return success();
  });
}

template <typename AttrT> static void printKeywords(OpAsmPrinter &printer, ArrayAttr values) {
  llvm::interleaveComma(values.getAsRange<AttrT>(), printer,
                        [&](AttrT value) { printer << stringifyEnum(value.getValue()); });
}

static ParseResult parseElements(OpAsmParser &parser, ArrayAttr &elements) {
  SmallVector<Attribute> values;
  if (parseKeywords<ElementAttr>(parser, values))
    return failure();
  elements = parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printElements(OpAsmPrinter &printer, Operation *, ArrayAttr elements) {
  printKeywords<ElementAttr>(printer, elements);
}

static ParseResult parseLinks(OpAsmParser &parser, ArrayAttr &kinds, ArrayAttr &contents) {
  SmallVector<Attribute> every, texts;
  auto parseLink = [&]() -> ParseResult {
    LinkKindAttr kind;
    std::string text;
    if (parseKeyword(parser, kind) || parser.parseString(&text))
      return failure();
    every.push_back(kind);
    texts.push_back(parser.getBuilder().getStringAttr(text));
    return success();
  };
  if (parser.parseCommaSeparatedList(parseLink))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(every);
  contents = parser.getBuilder().getArrayAttr(texts);
  return success();
}

static void printLinks(OpAsmPrinter &printer, ExternOp op, ArrayAttr kinds, ArrayAttr contents) {
  llvm::interleaveComma(llvm::zip(kinds, contents), printer, [&](auto link) {
    printer << stringifyEnum(cast<LinkKindAttr>(std::get<0>(link)).getValue()) << ' ';
    printer.printString(cast<StringAttr>(std::get<1>(link)).getValue());
  });
}

static ParseResult parseAccumulators(OpAsmParser &parser, Attribute &accumulator) {
  SmallVector<Attribute> values;
  SMLoc loc = parser.getCurrentLocation();
  if (parseKeywords<AccumulatorAttr>(parser, values))
    return failure();
  for (Attribute value : values)
    if (cast<AccumulatorAttr>(value).getValue() == Accumulator::Struct)
      return parser.emitError(loc) << "accumulator 'struct' is written as its fields, such as "
                                      "accumulator(f32, u32)";
  accumulator = values.size() == 1 ? values.front() : parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printAccumulators(OpAsmPrinter &printer, Operation *, Attribute accumulator) {
  if (auto list = dyn_cast<ArrayAttr>(accumulator))
    return printKeywords<AccumulatorAttr>(printer, list);
  printer << stringifyEnum(cast<AccumulatorAttr>(accumulator).getValue());
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

template <typename OpT> static OpT firstOf(UdfOpInterface udf) {
  auto ops = udf.getBody().front().getOps<OpT>();
  return ops.empty() ? OpT() : *ops.begin();
}

SmallVector<CaptureOp, 4> UdfOpInterface::getCaptures() {
  return llvm::to_vector<4>(getBody().front().getOps<CaptureOp>());
}

InitOp MetricOp::getInit() { return firstOf<InitOp>(*this); }
UpdateOp MetricOp::getUpdate() { return firstOf<UpdateOp>(*this); }
FinalizeOp MetricOp::getFinalize() { return firstOf<FinalizeOp>(*this); }
CombineOp MetricOp::getCombine() { return firstOf<CombineOp>(*this); }

SmallVector<CaptureOp> MetricOp::getCaptures() { return UdfOpInterface(*this).getCaptures(); }

// The last two arguments of update are the coordinates.

SmallVector<Type> MetricOp::getAccumulatorTypes() {
  return llvm::to_vector(TypeRange(getUpdate().getBody().getArgumentTypes()).drop_back(2));
}
Type MetricOp::getComputeType() {
  return TypeRange(getUpdate().getBody().getArgumentTypes()).back();
}

/// As `accumulator(...)` declares them; none if it does not.
static SmallVector<Accumulator> declaredAccumulators(MetricOp metric) {
  SmallVector<Accumulator> declared;
  const Attribute attribute = metric.getAccumulatorAttr();
  if (auto list = dyn_cast_if_present<ArrayAttr>(attribute))
    for (auto one : list.getAsRange<AccumulatorAttr>())
      declared.push_back(one.getValue());
  else if (attribute)
    declared.push_back(cast<AccumulatorAttr>(attribute).getValue());
  return declared;
}

/// Rule H3 leaves the types of rows, and a signless integer is signed.
static Accumulator kindOfField(Type type) {
  for (unsigned value = 0; value <= getMaxEnumValForAccumulator(); ++value)
    if (const auto row = static_cast<annudf_accumulator>(value);
        kindOf(row) != NumberKind::Unsigned && typeOf(row, type.getContext()) == type)
      return static_cast<Accumulator>(value);
  llvm_unreachable("the accumulator's type was not verified");
}

SmallVector<Accumulator> MetricOp::getAccumulatorKinds() {
  SmallVector<Accumulator> kinds = declaredAccumulators(*this);
  if (kinds.empty())
    kinds = llvm::map_to_vector(getAccumulatorTypes(), kindOfField);
  return kinds;
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
  case ANNUDF_HOOK_COMBINE:
    if (found > 1)
      return metric.emitOpError() << "[M23] needs at most one annudf.combine, found " << found
                                  << "; keep one";
    if (found == 1 && metric.getNumerics() != Numerics::Reassociate)
      return metric.emitOpError() << "[M24] has annudf.combine, but takes its dimensions in one "
                                     "row; write numerics(reassociate), or drop annudf.combine";
    return success();
  }
  llvm_unreachable("a hook that the tables do not have");
}

/// Takes the accumulator twice and yields it once.
static LogicalResult verifyCombine(MetricOp metric, ArrayRef<Type> acc) {
  CombineOp combine = metric.getCombine();
  if (!combine)
    return success();
  SmallVector<Type> twice(acc);
  llvm::append_range(twice, acc);
  const TypeRange taken = combine.getBody().getArgumentTypes();
  if (taken != TypeRange(twice))
    return combine.emitOpError() << "[H12] takes " << listTypes(taken)
                                 << ", but the accumulator of annudf.update is " << listTypes(acc)
                                 << "; take that twice, " << listTypes(twice);
  const TypeRange yielded = combine.getBody().front().getTerminator()->getOperandTypes();
  if (yielded != TypeRange(acc))
    return combine.emitOpError() << "[H13] yields " << listTypes(yielded)
                                 << ", but the accumulator of annudf.update is " << listTypes(acc)
                                 << "; yield that";
  return success();
}

/// The declaration and all hooks have the fields that update has.
static LogicalResult verifyAccumulator(MetricOp metric) {
  const SmallVector<Type> acc = metric.getAccumulatorTypes();
  const SmallVector<Accumulator> declared = declaredAccumulators(metric);
  auto toType = [&](Accumulator kind) {
    return typeOf(static_cast<annudf_accumulator>(kind), metric.getContext());
  };
  if (!declared.empty() && llvm::map_to_vector(declared, toType) != acc) {
    const auto names = llvm::map_to_vector(declared, [](auto kind) { return stringifyEnum(kind); });
    return metric.emitOpError() << "[M9] declares accumulator(" << llvm::join(names, ", ")
                                << "), which does not fit the accumulator of annudf.update, "
                                << listTypes(acc) << "; change one";
  }
  const TypeRange initial = metric.getInit().getBody().front().getTerminator()->getOperandTypes();
  if (initial != TypeRange(acc))
    return metric.getInit().emitOpError()
           << "[M10] yields " << listTypes(initial) << ", but the accumulator of annudf.update is "
           << listTypes(acc) << "; yield that";
  if (failed(verifyCombine(metric, acc)))
    return failure();
  FinalizeOp finalize = metric.getFinalize();
  if (!finalize) {
    if (acc.size() > 1)
      return metric.emitOpError() << "[M19] has an accumulator of " << acc.size()
                                  << " fields, of which none is the distance; write "
                                     "annudf.finalize, which takes "
                                  << listTypes(acc) << " and yields f32";
    return success();
  }
  const TypeRange taken = finalize.getBody().getArgumentTypes();
  if (taken != TypeRange(acc))
    return finalize.emitOpError() << "[M11] takes " << listTypes(taken)
                                  << ", but the accumulator of annudf.update is " << listTypes(acc)
                                  << "; take that";
  return success();
}

static bool hasNaN(Attribute element) {
  const auto row = static_cast<annudf_element>(cast<ElementAttr>(element).getValue());
  return kindOf(row) == NumberKind::Float;
}

LogicalResult ir::verifyDeclarations(UdfOpInterface udf) {
  llvm::SmallDenseSet<StringRef> names;
  for (CaptureOp capture : udf.getCaptures())
    if (!names.insert(capture.getName()).second)
      return capture.emitOpError()
             << "[M7] \"" << capture.getName() << "\" is declared twice; rename one";
  if (const auto dims = static_cast<int32_t>(udf.getDims().value_or(1)); dims <= 0)
    return udf->emitOpError() << "[M8] is for " << dims << " dimensions; dims must be positive";
  return success();
}

LogicalResult ir::verifyElementList(Operation *op, ArrayAttr elements, bool takesMissing) {
  if (elements.empty())
    return op->emitOpError() << "[M5] needs at least one element type; list some in elements(...)";
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute element : elements)
    if (!seen.insert(element).second)
      return op->emitOpError() << "[M6] lists element type "
                               << stringifyEnum(cast<ElementAttr>(element).getValue())
                               << " twice; list it once";
  if (takesMissing && llvm::none_of(elements, hasNaN))
    return op->emitOpError()
           << "[M20] takes missing values, but lists element types without NaN only; "
              "list f32, f16 or bf16, or drop missing_values";
  return success();
}

/// Structure only: which ops a metric holds and that their types agree. What a
/// body may do is the business of annudf-verify-abi.
LogicalResult MetricOp::verifyRegions() {
  std::map<annudf_hook, int> found;
  for (Operation &op : getBody().front()) {
    if (auto hook = dyn_cast<HookOpInterface>(op); hook && !isa<KeepOp, BodyOp>(op))
      ++found[hookOf(hook)];
    else if (!isa<CaptureOp>(op))
      return op.emitOpError() << "[M1] cannot stand in a metric; only captures and hooks can, so "
                                 "move it into the hook that uses it";
  }
  for (const TableRow &row : tableOf<annudf_hook>().rows)
    if (row.since != TableRow::kReserved &&
        failed(verifyCount(*this, static_cast<annudf_hook>(row.value),
                           found[static_cast<annudf_hook>(row.value)])))
      return failure();
  if (failed(verifyElementList(*this, getElements(), getMissingValues())) ||
      failed(verifyDeclarations(*this)))
    return failure();
  if (getPacked() && !packedOf(*getPacked()))
    return emitOpError() << "[M25] says packed " << *getPacked()
                         << ", which annudf-pack-lanes never writes; leave it out";
  return verifyAccumulator(*this);
}

//===----------------------------------------------------------------------===//
// FilterOp
//===----------------------------------------------------------------------===//

KeepOp FilterOp::getKeep() { return firstOf<KeepOp>(*this); }
SmallVector<CaptureOp> FilterOp::getCaptures() { return UdfOpInterface(*this).getCaptures(); }
bool FilterOp::seesQuery() {
  const auto readsQuery = [](IndexOp index) {
    return index.getKind() == ScanIndex::Query ? WalkResult::interrupt() : WalkResult::advance();
  };
  return (*this)->walk(readsQuery).wasInterrupted() ||
         llvm::any_of(getCaptures(), [](CaptureOp capture) {
           return llvm::is_contained(capture.getType().getExtents(), CaptureType::kQuery);
         });
}

LogicalResult FilterOp::verifyRegions() {
  int found = 0;
  for (Operation &op : getBody().front()) {
    found += isa<KeepOp>(op);
    if (!isa<KeepOp, CaptureOp>(op))
      return op.emitOpError() << "[K1] cannot stand in a filter; only captures and annudf.keep "
                                 "can, so move it into annudf.keep";
  }
  if (found != 1)
    return emitOpError() << "[K2] needs exactly one annudf.keep, found " << found
                         << (found == 0 ? "; write one" : "; keep one");
  return verifyDeclarations(*this);
}

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
  std::optional<uint32_t> dims = getOperation()->getParentOfType<UdfOpInterface>().getDims();
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

#define GET_OP_CLASSES
#include "annudf/Dialect/IR/AnnudfOps.cpp.inc"
