//===- ImportFrontend.cpp - From what a frontend emits to plain bodies -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "annudf/Analysis/Ranges.h"
#include "annudf/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_IMPORTFRONTENDPASS
#include "annudf/Frontend/Passes.h.inc"
} // namespace annudf

/// Integers of the frontend wrap around; before anything is folded, so that no fold uses
/// the promise.
static void dropOverflowFlags(UdfOpInterface metric) {
  metric->walk([](Operation *op) {
    if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
      op->setAttr(flags.getIntegerOverflowAttrName(),
                  arith::IntegerOverflowFlagsAttr::get(op->getContext(),
                                                       arith::IntegerOverflowFlags::none));
  });
}

/// What is nested deeper would end the stack of those who walk or read it.
static LogicalResult checkNesting(UdfOpInterface metric) {
  SmallVector<std::pair<Operation *, int>> pending = {{metric, 0}};
  while (!pending.empty()) {
    auto [op, depth] = pending.pop_back_val();
    if (depth > kMaxNesting)
      return emitError(op->getLoc()) << "[P17] nests branches and loops more than " << kMaxNesting
                                     << " deep; shorten the chain of elif, or use a capture";
    for (Region &region : op->getRegions())
      for (Operation &child : region.getOps())
        if (child.getNumRegions())
          pending.push_back({&child, depth + 1});
  }
  return success();
}

namespace {
struct ImportFrontendPass : annudf::impl::ImportFrontendPassBase<ImportFrontendPass> {
  LogicalResult initialize(MLIRContext *context) override {
    patterns = getSimplifications(context);
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkForm(module)))
      return signalPassFailure();
    int64_t slots = 0;
    FailureOr<int64_t> calls = inlineCalls(module, slots);
    if (failed(calls))
      return signalPassFailure();
    numCalls += *calls;
    numSlots += slots;
    bool ok = true;
    for (auto metric : module.getOps<UdfOpInterface>())
      ok &= succeeded(import(metric));
    if (!ok)
      signalPassFailure();
  }

private:
  static SmallVector<HookOpInterface> hooksOf(UdfOpInterface metric) {
    return llvm::to_vector(metric.getBody().getOps<HookOpInterface>());
  }

  LogicalResult import(UdfOpInterface metric) {
    if (failed(resolveContext(metric)))
      return failure();
    for (HookOpInterface hook : hooksOf(metric)) {
      FailureOr<int64_t> slots = promoteSlots(hook);
      if (failed(slots))
        return failure();
      numSlots += *slots;
    }
    dropOverflowFlags(metric);
    guardShifts(metric);
    simplify(metric, patterns);
    for (HookOpInterface hook : hooksOf(metric)) {
      FailureOr<int64_t> loops = structureRegions(hook);
      if (failed(loops))
        return failure();
      numLoops += *loops;
    }
    if (failed(checkNesting(metric)))
      return failure();
    simplify(metric, patterns);
    if (failed(checkAssigned(metric)))
      return failure();
    shortenIndices(metric);
    if (unrollForConstants(metric))
      simplify(metric, patterns);
    simplify(metric, patterns);
    if (failed(restoreShifts(metric)))
      return failure();
    remarkOnF64(metric);
    return success();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
