//===- InlineCaptures.cpp - Bakes capture values and dims into metrics -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaptureValues.h"

#include "annudf/ABI/annudf_abi.h"
#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_INLINECAPTURESPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

namespace {
struct InlineCapturesPass : annudf::impl::InlineCapturesPassBase<InlineCapturesPass> {
  using InlineCapturesPassBase::InlineCapturesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<DictionaryAttr> parsed = parseCaptureValues(values, module);
    if (failed(parsed) || failed(checkNames(*parsed)))
      return signalPassFailure();
    if (dims < 0 || dims > ANNUDF_MAX_DIMS) {
      module.emitOpError() << "[I12] cannot specialise for dims=" << dims.getValue()
                           << "; give a number from 1 to " << int(ANNUDF_MAX_DIMS)
                           << ", or 0 to leave dims open";
      return signalPassFailure();
    }
    for (auto metric : collectIn<UdfOpInterface>(module))
      if (failed(setDims(metric)) || failed(setValues(metric, *parsed)))
        return signalPassFailure();
    for (auto metric : collectIn<UdfOpInterface>(module)) {
      foldCaptures(metric);
      foldDims(metric);
    }
  }

private:
  /// A name that no metric has is a slip of the pen.
  LogicalResult checkNames(DictionaryAttr entries) {
    llvm::StringSet<> known;
    std::string list;
    for (auto metric : collectIn<UdfOpInterface>(getOperation()))
      for (CaptureOp capture : metric.getCaptures())
        if (known.insert(capture.getName()).second)
          list += (list.empty() ? "" : ", ") + capture.getName().str();
    for (NamedAttribute entry : entries)
      if (!known.contains(entry.getName().getValue()))
        return getOperation().emitOpError()
               << "[I11] has no capture '" << entry.getName().getValue()
               << "'; captures are: " << (list.empty() ? "none" : list);
    return success();
  }

  LogicalResult setDims(UdfOpInterface metric) {
    if (dims == 0)
      return success();
    if (isa<FunctionOp>(metric.getOperation()))
      return metric->emitOpError() << "[I14] is a function, which has no dimensions to specialise "
                                      "for; leave dims out";
    if (metric.getDims() && *metric.getDims() != dims)
      return metric->emitOpError() << "[I13] is for dims(" << *metric.getDims()
                                   << ") and cannot be specialised for dims=" << dims.getValue()
                                   << "; leave dims out or write " << *metric.getDims();
    metric.setDims(static_cast<uint32_t>(dims));
    return success();
  }

  LogicalResult setValues(UdfOpInterface metric, DictionaryAttr entries) {
    for (CaptureOp capture : metric.getCaptures()) {
      auto value = dyn_cast_or_null<TypedAttr>(entries.get(capture.getName()));
      if (!value)
        continue;
      if (failed(checkCaptureValue(capture, value, metric.getDims().value_or(0), maxArray)))
        return failure();
      capture.setValueAttr(value);
      ++numBaked;
    }
    return success();
  }

  /// Loads of one known number become it; a capture without loads left goes.
  void foldCaptures(UdfOpInterface metric) {
    for (CaptureOp capture : metric.getCaptures()) {
      if (!capture.getValue())
        continue;
      if (TypedAttr uniform = getUniformValue(capture)) {
        for (Operation *user : llvm::make_early_inc_range(capture->getUsers()))
          if (isa<LoadOp>(user)) {
            replaceByConstant(user, uniform);
            ++numLoads;
          }
      }
      if (capture->use_empty()) {
        capture.erase();
        ++numErased;
      }
    }
  }

  void foldDims(UdfOpInterface metric) {
    if (!metric.getDims())
      return;
    auto value = IntegerAttr::get(IndexType::get(&getContext()), *metric.getDims());
    metric->walk([&](IndexOp index) {
      if (index.getKind() != ScanIndex::Dims)
        return;
      replaceByConstant(index, value);
      ++numDims;
    });
  }

  static void replaceByConstant(Operation *op, TypedAttr value) {
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(
        arith::ConstantOp::create(builder, op->getLoc(), value).getResult());
    op->erase();
  }
};
} // namespace
