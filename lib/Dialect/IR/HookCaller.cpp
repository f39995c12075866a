//===- HookCaller.cpp - Calls of hooks, built in kernels ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Dialect/IR/HookCaller.h"

#include "HookOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

Value &ScanPlace::of(ScanIndex kind) { return ofIndex(kind, dim, dims, row, query, list); }

HookCaller::HookCaller(UdfOpInterface udf, ValueRange captures) : udf(udf), captures(captures) {}

SmallVector<Type> HookCaller::captureTypes(UdfOpInterface udf) {
  SmallVector<Type> types;
  for (CaptureOp capture : udf.getCaptures()) {
    if (capture.getValue())
      continue;
    const CaptureType type = capture.getType();
    if (type.isScalar()) {
      types.push_back(type.getLoadType());
      continue;
    }
    auto sizes = llvm::map_to_vector(type.getExtents(), [](int64_t extent) {
      return extent > 0 ? extent : ShapedType::kDynamic;
    });
    types.push_back(MemRefType::get(sizes, memrefElementOf(type)));
  }
  return types;
}

template <typename CallT>
SmallVector<Value> HookCaller::call(ImplicitLocOpBuilder &b, HookOpInterface hook,
                                    TypeRange results, ValueRange values, ScanPlace at) const {
  ScanPlace read;
  if (hook)
    for (ScanIndex kind : indicesReadIn(hook))
      read.of(kind) = at.of(kind);
  const bool needsCaptures = hook && readsBoundCapture(hook);
  return CallT::create(b, results, FlatSymbolRefAttr::get(udf.getOperation()), values, read.dim,
                       read.dims, read.row, read.query, read.list,
                       needsCaptures ? ValueRange(captures) : ValueRange())
      .getResults();
}

MetricOp HookCaller::metric() const { return cast<MetricOp>(udf.getOperation()); }

SmallVector<Value> HookCaller::init(ImplicitLocOpBuilder &b, const ScanPlace &at) const {
  return call<CallInitOp>(b, metric().getInit(), metric().getAccumulatorTypes(), {}, at);
}

SmallVector<Value> HookCaller::update(ImplicitLocOpBuilder &b, ValueRange acc, Value x, Value y,
                                      const ScanPlace &at) const {
  SmallVector<Value> values(acc);
  values.append({x, y});
  return call<CallUpdateOp>(b, metric().getUpdate(), metric().getAccumulatorTypes(), values, at);
}

SmallVector<Value> HookCaller::combine(ImplicitLocOpBuilder &b, ValueRange acc, ValueRange other,
                                       const ScanPlace &at) const {
  SmallVector<Value> values(acc);
  llvm::append_range(values, other);
  CombineOp hook = metric().getCombine();
  return call<CallCombineOp>(b, hook ? HookOpInterface(hook) : HookOpInterface(),
                             metric().getAccumulatorTypes(), values, at);
}

Value HookCaller::finalize(ImplicitLocOpBuilder &b, ValueRange acc, const ScanPlace &at) const {
  const Type f32 = b.getF32Type();
  if (FinalizeOp hook = metric().getFinalize())
    return call<CallFinalizeOp>(b, hook, f32, acc, at).front();
  switch (metric().getAccumulatorKinds().front()) {
  case Accumulator::F32:
    return acc.front();
  case Accumulator::F64:
    return arith::TruncFOp::create(b, f32, acc.front());
  case Accumulator::I32:
  case Accumulator::I64:
    return arith::SIToFPOp::create(b, f32, acc.front());
  case Accumulator::U32:
    return arith::UIToFPOp::create(b, f32, acc.front());
  case Accumulator::Struct:
    break; // Names several fields, and no field is one.
  }
  llvm_unreachable("an accumulator that the dialect does not have");
}

Value HookCaller::keep(ImplicitLocOpBuilder &b, const ScanPlace &at) const {
  auto filter = cast<FilterOp>(udf.getOperation());
  return call<CallKeepOp>(b, filter.getKeep(), b.getI1Type(), {}, at).front();
}
