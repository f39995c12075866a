//===- Builder.cpp - Metrics, filters and functions, built by other compilers ===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/Builder.h"

#include "HookOps.h"

#include "annudf/Dialect/IR/Descriptor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

//===----------------------------------------------------------------------===//
// HookBuilder
//===----------------------------------------------------------------------===//

/// Ops are told to the parent's listener: a rewriter has to know of them.
HookBuilder::HookBuilder(OpBuilder &parent, Location loc, HookOpInterface hook, bool &refused)
    : ImplicitLocOpBuilder(loc, hook.getHookBlock(), hook.getHookBlock()->end(),
                           parent.getListener()),
      hook(hook), refused(refused) {}

InFlightDiagnostic HookBuilder::refuse() {
  refused = true;
  return mlir::emitError(getLoc());
}

Value HookBuilder::index(ScanIndex kind) {
  if (!hook.hasIndex(kind))
    refuse() << "the builder of annudf." << hook.getHookName() << " is asked for annudf.index "
             << stringifyEnum(kind) << ", which has no meaning there; pass what you need in the "
             << "accumulator or a capture";
  return IndexOp::create(*this, kind);
}

Value HookBuilder::load(Value capture, ValueRange indices) {
  if (!capture || !isa<CaptureType>(capture.getType())) {
    refuse() << "the builder of annudf." << hook.getHookName()
             << " is asked to load what is no capture; load what capture() gave";
    return number(getF32Type(), 0);
  }
  for (Value index : indices)
    if (!index || !index.getType().isIndex()) {
      refuse() << "the builder of annudf." << hook.getHookName()
               << " is given an index that is no value of type index; convert it with "
                  "arith.index_cast or arith.index_castui";
      return number(cast<CaptureType>(capture.getType()).getLoadType(), 0);
    }
  return LoadOp::create(*this, capture, indices);
}

Value HookBuilder::number(Type type, double value) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(*this, getFloatAttr(floating, value));
  const unsigned width = type.isIndex()             ? 64
                         : type.isSignlessInteger() ? type.getIntOrFloatBitWidth()
                                                    : 0;
  // An i1 is true or false, other integers have a sign.
  const double end = std::ldexp(1.0, static_cast<int>(width == 1 ? 1 : width - 1));
  if (width == 0 || width > 64 || std::trunc(value) != value || value >= end ||
      value < (width == 1 ? 0 : -end)) {
    refuse() << "the builder of annudf." << hook.getHookName() << " is asked for the number "
             << std::to_string(value) << " as " << type
             << "; take a float, signless integer or index type that holds it";
    return arith::ConstantOp::create(*this, getF32FloatAttr(0));
  }
  return arith::ConstantOp::create(*this, getIntegerAttr(type, static_cast<int64_t>(value)));
}

//===----------------------------------------------------------------------===//
// UdfBuilder
//===----------------------------------------------------------------------===//

UdfBuilder::UdfBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

UdfBuilder::~UdfBuilder() {
  if (!finished)
    emitError(loc) << "the builder of @" << udf.getSymName()
                   << " is left before it is done; call finish()";
}

Value UdfBuilder::capture(StringRef name, ArrayRef<int64_t> extents, Type element) {
  auto type = CaptureType::getChecked([&] { return emitError(loc); }, builder.getContext(), extents,
                                      element);
  if (!type) {
    refused = true;
    return {};
  }
  // Hooks may be there already, and what they load stands before them.
  const OpBuilder::InsertionGuard guard(builder);
  if (lastCapture)
    builder.setInsertionPointAfter(lastCapture);
  else
    builder.setInsertionPointToStart(&udf.getBody().front());
  auto op = CaptureOp::create(builder, loc, type, name, /*value=*/TypedAttr());
  lastCapture = op;
  return op;
}

template <typename HookT>
void UdfBuilder::addHook(TypeRange arguments, TypeRange results, Body body) {
  const OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&udf.getBody().front());
  fillHook(HookT::create(builder, loc), arguments, results, body);
}

void UdfBuilder::fillHook(HookOpInterface hook, TypeRange arguments, TypeRange results, Body body) {
  builder.createBlock(&hook->getRegion(0), {}, arguments,
                      SmallVector<Location>(arguments.size(), loc));
  HookBuilder inside(builder, loc, hook, refused);
  const Yield yield = body(inside, hook.getHookBlock()->getArguments());
  SmallVector<Value> values(yield.get());
  if (llvm::is_contained(values, Value())) {
    inside.refuse() << "the body of annudf." << hook.getHookName()
                    << " gives a null value; give what an op of it computes";
    llvm::erase(values, Value());
  } else if (TypeRange(values) != results) {
    inside.refuse() << "the body of annudf." << hook.getHookName() << " gives "
                    << listTypes(ValueRange(values).getTypes()) << ", but has to give "
                    << listTypes(results);
  }
  // A body may have moved its builder.
  inside.setInsertionPointToEnd(hook.getHookBlock());
  YieldOp::create(inside, values);
}

InFlightDiagnostic UdfBuilder::refuse() {
  refused = true;
  return emitError(loc);
}

LogicalResult UdfBuilder::finishUdf() {
  finished = true;
  return failure(refused || failed(verify(udf)));
}

//===----------------------------------------------------------------------===//
// MetricBuilder
//===----------------------------------------------------------------------===//

MetricBuilder::MetricBuilder(OpBuilder &builder, Location loc, StringRef name,
                             const MetricOptions &options)
    : UdfBuilder(builder, loc) {
  MLIRContext *context = builder.getContext();
  auto elements = llvm::map_to_vector(options.elements, [&](Element element) -> Attribute {
    return ElementAttr::get(context, element);
  });
  auto fields = llvm::map_to_vector(options.accumulator, [&](Accumulator kind) -> Attribute {
    return AccumulatorAttr::get(context, kind);
  });
  // What the types of the bodies do not say.
  Attribute accumulator;
  if (llvm::is_contained(options.accumulator, Accumulator::U32))
    accumulator = fields.size() == 1 ? fields.front() : builder.getArrayAttr(fields);
  auto metric = MetricOp::create(
      builder, loc, name, options.order, options.coarse,
      options.coarseOrder ? OrderAttr::get(context, *options.coarseOrder) : OrderAttr(),
      builder.getArrayAttr(elements), accumulator, options.numerics,
      options.dims ? builder.getI32IntegerAttr(static_cast<int32_t>(*options.dims)) : IntegerAttr(),
      options.missingValues, /*packed=*/DictionaryAttr());
  const OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&metric.getBody());
  udf = metric;
  for (Accumulator kind : options.accumulator)
    acc.push_back(typeOf(static_cast<annudf_accumulator>(kind), context));
  if (acc.empty() || llvm::is_contained(acc, Type())) {
    refuse() << "the builder of @" << name
             << " is given no accumulator; list the types of its fields, one or several";
    acc.assign({builder.getF32Type()});
  }
  coordinate = typeOf(options.compute, context);
}

void MetricBuilder::init(llvm::function_ref<Yield(HookBuilder &)> body) {
  addHook<InitOp>({}, acc, [&](HookBuilder &inside, ValueRange) { return body(inside); });
}

void MetricBuilder::update(
    llvm::function_ref<Yield(HookBuilder &, ValueRange acc, Value x, Value y)> body) {
  SmallVector<Type> arguments = acc;
  arguments.append(2, coordinate);
  addHook<UpdateOp>(arguments, acc, [&](HookBuilder &inside, ValueRange all) {
    return body(inside, all.drop_back(2), all.drop_back().back(), all.back());
  });
}

void MetricBuilder::finalize(llvm::function_ref<Yield(HookBuilder &, ValueRange acc)> body) {
  addHook<FinalizeOp>(acc, Type(builder.getF32Type()),
                      [&](HookBuilder &inside, ValueRange all) { return body(inside, all); });
}

void MetricBuilder::combine(
    llvm::function_ref<Yield(HookBuilder &, ValueRange acc, ValueRange other)> body) {
  SmallVector<Type> arguments = acc;
  arguments.append(acc);
  addHook<CombineOp>(arguments, acc, [&](HookBuilder &inside, ValueRange all) {
    return body(inside, all.take_front(acc.size()), all.take_back(acc.size()));
  });
}

FailureOr<MetricOp> MetricBuilder::finish() {
  if (failed(finishUdf()))
    return failure();
  return cast<MetricOp>(udf.getOperation());
}

//===----------------------------------------------------------------------===//
// FilterBuilder
//===----------------------------------------------------------------------===//

FilterBuilder::FilterBuilder(OpBuilder &builder, Location loc, StringRef name,
                             std::optional<uint32_t> dims)
    : UdfBuilder(builder, loc) {
  auto filter = FilterOp::create(builder, loc, name,
                                 dims ? builder.getI32IntegerAttr(static_cast<int32_t>(*dims))
                                      : IntegerAttr());
  const OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&filter.getBody());
  udf = filter;
}

void FilterBuilder::keep(llvm::function_ref<Yield(HookBuilder &)> body) {
  addHook<KeepOp>({}, Type(builder.getI1Type()),
                  [&](HookBuilder &inside, ValueRange) { return body(inside); });
}

FailureOr<FilterOp> FilterBuilder::finish() {
  if (failed(finishUdf()))
    return failure();
  return cast<FilterOp>(udf.getOperation());
}

//===----------------------------------------------------------------------===//
// FunctionBuilder
//===----------------------------------------------------------------------===//

FunctionBuilder::FunctionBuilder(OpBuilder &builder, Location loc, StringRef name,
                                 FunctionType signature, Convention convention)
    : UdfBuilder(builder, loc), signature(signature) {
  auto function = FunctionOp::create(builder, loc, name, convention, signature);
  const OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&function.getBody());
  udf = function;
}

void FunctionBuilder::body(llvm::function_ref<Yield(HookBuilder &, ValueRange arguments)> body) {
  addHook<BodyOp>(bodyTypes(signature.getInputs()), bodyTypes(signature.getResults()), body);
}

FailureOr<FunctionOp> FunctionBuilder::finish() {
  if (failed(finishUdf()))
    return failure();
  return cast<FunctionOp>(udf.getOperation());
}
