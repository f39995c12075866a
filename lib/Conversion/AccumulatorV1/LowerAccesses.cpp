//===- LowerAccesses.cpp - Captures and indices as loads and arguments ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing writes a capture while a search runs, so every load of a metric or a filter is
// invariant: that is what lets a compiler hoist it out of the scan's loops.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/ABI/Extents.h"
#include "annudf/Analysis/Ranges.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

namespace {

class AccessLowering {
public:
  AccessLowering(func::FuncOp function, UdfOpInterface metric, const HookArguments &arguments,
                 const TargetInfo &target, LoweringCounts &counts)
      : function(function), metric(metric), arguments(arguments), target(target), counts(counts),
        builder(function.getLoc(), function.getContext()) {}

  LogicalResult run() {
    SmallVector<IndexOp> indices;
    SmallVector<LoadOp> loads;
    function.walk([&](Operation *op) {
      if (auto index = dyn_cast<IndexOp>(op))
        indices.push_back(index);
      else if (auto load = dyn_cast<LoadOp>(op))
        loads.push_back(load);
    });
    for (IndexOp index : indices) {
      builder.setInsertionPoint(index);
      builder.setLoc(index.getLoc());
      Value value = argumentFor(index.getKind());
      if (!value)
        return index.emitOpError() << target.passName << ": annudf.index "
                                   << stringifyEnum(index.getKind()) << " has no meaning here";
      index.replaceAllUsesWith(toIndex(value));
      index.erase();
    }
    for (LoadOp load : loads) {
      builder.setInsertionPoint(load);
      builder.setLoc(load.getLoc());
      load.replaceAllUsesWith(lower(load));
      load.erase();
    }
    return success();
  }

private:
  /// Null where the hook has no such argument.
  Value argumentFor(ScanIndex kind) const {
    switch (kind) {
    case ScanIndex::Dim:
      return arguments.dim;
    case ScanIndex::Dims:
      return arguments.dims;
    case ScanIndex::Row:
      return arguments.row;
    case ScanIndex::Query:
      return arguments.query;
    case ScanIndex::List:
      return arguments.list;
    }
    llvm_unreachable("an index that the dialect does not have");
  }

  Value toIndex(Value value) {
    return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(builder, builder.getI64Type(), index);
  }

  Value lower(LoadOp load) {
    auto capture = load.getCapture().getDefiningOp<CaptureOp>();
    CaptureType type = capture.getType();
    if (capture.getValue())
      return lowerConstant(load, capture, *capture.getValue());
    Value slot = arguments.capture
                     ? LLVM::PtrToIntOp::create(builder, builder.getI64Type(), arguments.capture)
                     : loadSlot(capture);
    if (type.isScalar())
      return fromSlot(slot, type);
    Value offset = linearise(load, type);
    auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), target.globalAddressSpace);
    Value base = LLVM::IntToPtrOp::create(builder, pointer, slot);
    return loadElement(base, pointer, type, offset);
  }

  Value lowerConstant(LoadOp load, CaptureOp capture, TypedAttr value) {
    CaptureType type = capture.getType();
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense || dense.isSplat()) {
      TypedAttr single = dense ? cast<TypedAttr>(dense.getSplatValue<Attribute>()) : value;
      return arith::ConstantOp::create(builder, type.asLoaded(single)).getResult();
    }
    Value offset = linearise(load, type);
    LLVM::GlobalOp table = tableOf(capture, dense);
    Value base = LLVM::AddressOfOp::create(builder, table);
    return loadElement(base, base.getType(), type, offset);
  }

  /// Slots are numbered over the captures that are bound at run time.
  Value loadSlot(CaptureOp capture) {
    int number = 0;
    for (CaptureOp other : metric.getCaptures()) {
      if (other == capture)
        break;
      if (!other.getValue())
        ++number;
    }
    Type i64 = builder.getI64Type();
    Value address =
        LLVM::GEPOp::create(builder, arguments.slots.getType(), i64, arguments.slots,
                            ArrayRef<LLVM::GEPArg>{number}, LLVM::GEPNoWrapFlags::inbounds);
    return LLVM::LoadOp::create(builder, i64, address, /*alignment=*/8, /*isVolatile=*/false,
                                /*isNonTemporal=*/false, isInvariant());
  }

  /// Who calls a device function may write, meanwhile, what it captured.
  bool isInvariant() { return !isa<FunctionOp>(metric.getOperation()); }

  /// As what an element lies in memory: an i1 as a byte, a bf16, which neither libNVVM nor every
  /// host computes with, as its bits.
  Type storedType(CaptureType type) {
    if (type.getElementType().isBF16())
      return builder.getI16Type();
    return type.getLoadType().isInteger(1) ? builder.getI8Type() : type.getLoadType();
  }

  /// Any byte but 0 is true, so that an i1 has one of its two values whatever lies in memory.
  Value fromStored(Value stored, CaptureType type) {
    if (type.getElementType().isBF16()) {
      Type i32 = builder.getI32Type();
      Value bits = arith::ExtUIOp::create(builder, i32, stored);
      bits = arith::ShLIOp::create(builder, bits, arith::ConstantIntOp::create(builder, i32, 16));
      return arith::BitcastOp::create(builder, builder.getF32Type(), bits);
    }
    if (!type.getLoadType().isInteger(1))
      return stored;
    Value zero = arith::ConstantIntOp::create(builder, stored.getType(), 0);
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, stored, zero);
  }

  /// A scalar is the slot's low bits.
  Value fromSlot(Value slot, CaptureType capture) {
    Type type = storedType(capture);
    unsigned width = type.getIntOrFloatBitWidth();
    Value bits = slot;
    if (width < 64)
      bits = arith::TruncIOp::create(builder, builder.getIntegerType(width), slot);
    return fromStored(isa<FloatType>(type) ? arith::BitcastOp::create(builder, type, bits) : bits,
                      capture);
  }

  Value sizeOf(int64_t extent) {
    switch (CaptureType::kindOf(extent)) {
    case ANNUDF_EXTENT_CONSTANT:
      return arith::ConstantIntOp::create(builder, builder.getI64Type(), extent);
    case ANNUDF_EXTENT_DIM:
      if (!arguments.dims) // A constant's: it has one entry a dimension, so their number is known.
        return arith::ConstantIntOp::create(builder, builder.getI64Type(),
                                            metric.getDims().value_or(1));
      return toI64(toIndex(arguments.dims));
    case ANNUDF_EXTENT_ROW: // proveLoads lets none of these come here.
    case ANNUDF_EXTENT_QUERY:
      break;
    }
    llvm::report_fatal_error("annudf: a load of an extent that no hook knows the size of");
  }

  /// Row-major offset of the element, as i64.
  Value linearise(LoadOp load, CaptureType type) {
    Value offset;
    for (auto [extent, index] : llvm::zip(type.getExtents(), load.getIndices())) {
      Value position = toI64(index);
      if (!offset) {
        offset = position;
        continue;
      }
      offset = arith::MulIOp::create(builder, offset, sizeOf(extent));
      offset = arith::AddIOp::create(builder, offset, position);
    }
    return offset;
  }

  Value loadElement(Value base, Type pointer, CaptureType type, Value offset) {
    Type stored = storedType(type);
    Value address = LLVM::GEPOp::create(builder, pointer, stored, base, ValueRange(offset),
                                        LLVM::GEPNoWrapFlags::inbounds);
    Value value = LLVM::LoadOp::create(builder, stored, address, stored.getIntOrFloatBitWidth() / 8,
                                       /*isVolatile=*/false,
                                       /*isNonTemporal=*/false, isInvariant());
    return fromStored(value, type);
  }

  /// The table of a capture, made at its first use.
  LLVM::GlobalOp tableOf(CaptureOp capture, DenseElementsAttr dense) {
    SmallVector<CaptureOp> captures = metric.getCaptures();
    unsigned number = llvm::find(captures, capture) - captures.begin();
    std::string name = "annudf_table_" + std::to_string(number);
    auto module = function->getParentOfType<ModuleOp>();
    if (auto existing = module.lookupSymbol<LLVM::GlobalOp>(name))
      return existing;
    ++counts.tables;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    int64_t entries = dense.getNumElements();
    Type stored = storedType(capture.getType());
    DenseElementsAttr flat;
    if (dense.getElementType().isInteger(1)) {
      SmallVector<int8_t> bytes(dense.getValues<bool>());
      flat = DenseElementsAttr::get(RankedTensorType::get(entries, stored), ArrayRef(bytes));
    } else {
      flat = dense.reshape(RankedTensorType::get(entries, dense.getElementType())).bitcast(stored);
    }
    unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
    unsigned space =
        entries * bytes <= kMaxConstantTable ? target.tableAddressSpace : target.globalAddressSpace;
    return LLVM::GlobalOp::create(builder, LLVM::LLVMArrayType::get(stored, entries),
                                  /*isConstant=*/true, LLVM::Linkage::Internal, name, flat, bytes,
                                  space);
  }

  func::FuncOp function;
  UdfOpInterface metric;
  const HookArguments &arguments;
  const TargetInfo &target;
  LoweringCounts &counts;
  ImplicitLocOpBuilder builder;
};

} // namespace

/// Where its value lies is known of a declaration alone.
static LogicalResult checkCapture(LoadOp load, const TargetInfo &target) {
  Operation *from = load.getCapture().getDefiningOp();
  if (isa_and_present<CaptureOp>(from))
    return success();
  InFlightDiagnostic error = load.emitOpError() << target.passName << ": reads ";
  if (isa_and_present<UnrealizedConversionCastOp>(from))
    return error << "a capture of the frontend form, which is none of the metric's yet; run "
                    "annudf-import-frontend first";
  if (from)
    error << "what '" << from->getName() << "' gives";
  else
    error << "an argument";
  return error << ", which is no annudf.capture; annudf-verify-abi says what to do instead";
}

LogicalResult annudf::lowering::proveLoads(UdfOpInterface metric, const TargetInfo &target) {
  LogicalResult result = success();
  for (auto hook : metric.getBody().getOps<HookOpInterface>()) {
    const RangeAnalysis ranges(hook);
    hook.walk([&](LoadOp load) {
      if (failed(checkCapture(load, target))) {
        result = failure();
        return;
      }
      for (int64_t extent : load.getCapture().getType().getExtents().drop_front(
               load.getCapture().getType().isScalar() ? 0 : 1))
        if (isFirstOnly(CaptureType::kindOf(extent))) {
          load.emitOpError() << target.passName << ": extent " << CaptureType::spellExtent(extent)
                             << " stands after another; annudf-verify-abi says what to do instead";
          result = failure();
          return;
        }
      const UnprovedIndex index = findUnprovedIndex(ranges, load);
      if (index.why == Inside::Yes)
        return;
      load.emitOpError()
          << target.passName << ": index of extent " << CaptureType::spellExtent(index.extent)
          << " is not proved to be inside it; annudf-verify-abi says what is missing";
      result = failure();
    });
  }
  return result;
}

LogicalResult annudf::lowering::lowerAccesses(func::FuncOp function, UdfOpInterface metric,
                                              const HookArguments &arguments,
                                              const TargetInfo &target, LoweringCounts &counts) {
  return AccessLowering(function, metric, arguments, target, counts).run();
}
