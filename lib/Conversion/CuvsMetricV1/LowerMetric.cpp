//===- LowerMetric.cpp - From a metric to the function that cuVS calls ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rapids.cuvs.ivf_flat.metric.v1 has one function, a step of the sum over dimensions.
// What else a metric may have, that ABI has no place for: lib/Dialect/Transforms/CuvsMetric.cpp.
//
//===----------------------------------------------------------------------===//

#include "../AccumulatorV1/Lowering.h"

#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;
using namespace annudf::lowering;

/// Which coordinate it is. Who scans does not know for how many dimensions a metric was made: of
/// more, constants of one entry a dimension must not be read past their end.
static Value boundDim(ImplicitLocOpBuilder &builder, Value dim, UdfOpInterface udf) {
  const std::optional<int64_t> dims = udf.getDims();
  if (!dims)
    return dim;
  Value last = arith::ConstantIntOp::create(builder, builder.getI64Type(), *dims - 1);
  return arith::MinUIOp::create(builder, dim, last);
}

LogicalResult annudf::lowering::lowerToCuvsMetric(ModuleOp module, StringRef name,
                                                  TargetInfo &target, LoweringCounts &counts) {
  std::string given;
  FailureOr<UdfOpInterface> udf = isolateMetric(module, name, target, given);
  if (target.code.symbol.empty())
    target.code.symbol = defaultSymbol(given);
  if (failed(udf) || failed(proveLoads(*udf, target)) || failed(verifyCuvsMetric(*udf)) ||
      failed(verifyCuvsSymbol(*udf, target.code.symbol)))
    return failure();
  fuseProducts(module, target);
  auto metric = cast<MetricOp>(udf->getOperation());
  counts.slots +=
      llvm::count_if(metric.getCaptures(), [](CaptureOp capture) { return !capture.getValue(); });

  ImplicitLocOpBuilder builder(metric.getLoc(), module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  Type f32 = builder.getF32Type();
  SmallVector<Type> parameters(3, f32);
  if (counts.slots)
    parameters.append({LLVM::LLVMPointerType::get(builder.getContext()), builder.getI64Type()});
  auto function =
      func::FuncOp::create(builder, target.code.symbol, builder.getFunctionType(parameters, f32));
  builder.setInsertionPointToStart(function.addEntryBlock());

  HookArguments arguments;
  if (counts.slots) {
    arguments.capture = function.getArgument(3);
    arguments.dim = boundDim(builder, function.getArgument(4), *udf);
  }
  auto update = cast<HookOpInterface>(metric.getUpdate().getOperation());
  func::ReturnOp::create(builder, cloneBody(builder, update, // The accumulator stands last.
                                            {function.getArgument(2), function.getArgument(0),
                                             function.getArgument(1)}));
  if (failed(lowerAccesses(function, *udf, arguments, target, counts)))
    return failure();
  metric.erase();
  return success();
}
