//===- HookFunctions.cpp - Hooks as functions for kernels -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookFunctions.h"

#include "annudf/Dialect/IR/HookCaller.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace {

/// A private function NAME_HOOK, with the builder in its empty body. `arguments` are "NAME: TYPE",
/// which says what builtin types cannot: which argument is which, and the sign of integers.
func::FuncOp makeFunction(ImplicitLocOpBuilder &builder, UdfOpInterface udf, StringRef hook,
                          TypeRange inputs, TypeRange results, ArrayRef<std::string> arguments) {
  builder.setInsertionPointToEnd(udf->getBlock());
  auto function = func::FuncOp::create(builder, (udf.getSymName() + "_" + hook).str(),
                                       FunctionType::get(builder.getContext(), inputs, results));
  function.setPrivate();
  SmallVector<StringRef> names(arguments.begin(), arguments.end());
  function->setAttr("arguments", builder.getStrArrayAttr(names));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

/// Names and types of the arguments of a hook.
SmallVector<std::string> spellValues(UdfOpInterface udf, HookOpInterface hook) {
  SmallVector<std::string> spelled;
  auto metric = dyn_cast<MetricOp>(udf.getOperation());
  if (!metric || isa<InitOp>(hook.getOperation()))
    return spelled;
  const SmallVector<Accumulator> kinds = metric.getAccumulatorKinds();
  auto addFields = [&](const std::string &name) {
    for (auto [i, kind] : llvm::enumerate(kinds))
      spelled.push_back(name + (kinds.size() > 1 ? std::to_string(i) : "") + ": " +
                        stringifyEnum(kind).str());
  };
  addFields("acc");
  if (isa<CombineOp>(hook.getOperation()))
    addFields("other");
  if (isa<UpdateOp>(hook.getOperation()))
    for (const char *name : {"x: ", "y: "}) {
      spelled.emplace_back(name);
      llvm::raw_string_ostream(spelled.back()) << metric.getComputeType();
    }
  return spelled;
}

std::string spellCapture(CaptureOp capture) {
  std::string text = capture.getName().str() + ": ";
  llvm::raw_string_ostream(text) << capture.getType();
  return text;
}

/// The type by which a caller passes a capture: arrays may have any layout.
Type typeOfArgument(CaptureType type) {
  if (type.isScalar())
    return type.getLoadType();
  const size_t rank = type.getExtents().size();
  const SmallVector<int64_t> dynamic(rank, ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, dynamic);
  return MemRefType::get(dynamic, memrefElementOf(type), layout);
}

SmallVector<Value> callHook(ImplicitLocOpBuilder &builder, const HookCaller &caller,
                            Operation *hook, ValueRange values, const ScanPlace &at) {
  if (isa<InitOp>(hook))
    return caller.init(builder, at);
  if (isa<UpdateOp>(hook))
    return caller.update(builder, values.drop_back(2), values.drop_back().back(), values.back(),
                         at);
  if (isa<CombineOp>(hook))
    return caller.combine(builder, values.take_front(values.size() / 2),
                          values.drop_front(values.size() / 2), at);
  if (isa<FinalizeOp>(hook))
    return {caller.finalize(builder, values, at)};
  assert(isa<KeepOp>(hook) && "a hook that kernels cannot call");
  return {caller.keep(builder, at)};
}

void addFunction(ImplicitLocOpBuilder &builder, UdfOpInterface udf, HookOpInterface hook) {
  const SmallVector<ScanIndex> indices = indicesReadIn(hook);
  SmallVector<Type> inputs(hook.getHookBlock()->getArgumentTypes());
  const size_t values = inputs.size();
  SmallVector<std::string> arguments = spellValues(udf, hook);
  for (ScanIndex kind : indices) {
    inputs.push_back(builder.getI64Type());
    arguments.push_back(stringifyEnum(kind).str() + ": i64");
  }
  if (readsBoundCapture(hook))
    for (CaptureOp capture : udf.getCaptures())
      if (!capture.getValue()) {
        inputs.push_back(typeOfArgument(capture.getType()));
        arguments.push_back(spellCapture(capture));
      }
  func::FuncOp function =
      makeFunction(builder, udf, hook.getHookName(), inputs,
                   hook.getHookBlock()->getTerminator()->getOperandTypes(), arguments);
  const ValueRange given = function.getArguments();
  ScanPlace at;
  size_t next = values;
  for (ScanIndex kind : indices)
    at.of(kind) = arith::IndexCastOp::create(builder, builder.getIndexType(), given[next++]);
  const HookCaller caller(udf, given.drop_front(next));
  func::ReturnOp::create(builder, callHook(builder, caller, hook, given.take_front(values), at));
}

/// A metric without the hook reports its accumulator as f32.
void addDistance(ImplicitLocOpBuilder &builder, MetricOp metric) {
  const Accumulator kind = metric.getAccumulatorKinds().front();
  func::FuncOp function = makeFunction(builder, metric, "finalize", metric.getAccumulatorTypes(),
                                       builder.getF32Type(), "acc: " + stringifyEnum(kind).str());
  const HookCaller caller(metric, {});
  func::ReturnOp::create(builder, caller.finalize(builder, function.getArguments(), {}));
}

} // namespace

void compiler::addHookFunctions(UdfOpInterface udf) {
  udf->getContext()->loadDialect<arith::ArithDialect, func::FuncDialect>();
  ImplicitLocOpBuilder builder(udf->getLoc(), udf->getContext());
  for (auto hook : udf.getBody().getOps<HookOpInterface>())
    addFunction(builder, udf, hook);
  if (auto metric = dyn_cast<MetricOp>(udf.getOperation()); metric && !metric.getFinalize())
    addDistance(builder, metric);
}
