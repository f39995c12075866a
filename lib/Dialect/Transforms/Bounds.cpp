//===- Bounds.cpp - Loops end, helpers do not recurse, hooks stay small -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "annudf/Analysis/CallGraph.h"
#include "annudf/Analysis/Size.h"

#include <limits>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

LogicalResult rules::verifyLoop(scf::ForOp loop) {
  std::optional<LoopBounds> bounds = LoopBounds::of(loop);
  if (!bounds)
    return loop.emitOpError() << "[S1] may run for ever; give it constant bounds and step, and "
                                 "choose inside the loop with scf.if or arith.select";
  if (!bounds->step.isStrictlyPositive())
    return loop.emitOpError() << "[S2] needs a positive step, got " << bounds->step.getSExtValue()
                              << "; count upwards";
  int64_t trips = bounds->trips();
  if (trips > kMaxTripCount)
    return loop.emitOpError() << "[S3] runs " << trips << " times, more than " << kMaxTripCount
                              << "; split the work over the dimensions or shorten the loop";
  // The counter is stepped once more before the last comparison; wrapped, it would
  // be below the bound for ever.
  bool wraps = false;
  if (bounds->isUnsigned)
    (void)bounds->upper.uadd_ov(bounds->step, wraps);
  else
    (void)bounds->upper.sadd_ov(bounds->step, wraps);
  if (wraps)
    return loop.emitOpError() << "[S4] counts past the largest " << loop.getLowerBound().getType()
                              << ", so it may run for ever; use a wider type or smaller bounds";
  return success();
}

LogicalResult rules::verifyNoRecursion(const CallGraph &graph,
                                       const llvm::DenseSet<Operation *> &helpers) {
  if (func::CallOp cycle = graph.findCycle(&helpers))
    return cycle.emitOpError() << "[F4] closes a recursion through @" << cycle.getCallee()
                               << "; helpers cannot call themselves, use scf.for";
  return success();
}

LogicalResult rules::verifySize(Operation *module, AbiCounts &counts) {
  SizeCounter counter(module);
  LogicalResult result = success();
  for (auto udf : module->getRegion(0).getOps<UdfOpInterface>())
    for (auto hook : udf.getBody().getOps<HookOpInterface>()) {
      uint64_t size = counter.below(hook);
      counts.maxUnrolled = std::max<int64_t>(
          counts.maxUnrolled, std::min<uint64_t>(size, std::numeric_limits<int64_t>::max()));
      if (size <= static_cast<uint64_t>(kMaxUnrolledOps))
        continue;
      hook->emitOpError() << "[S5] weighs " << size << " with its loops unrolled and its helpers "
                          << "inlined, more than " << kMaxUnrolledOps
                          << "; shorten the loops, nest fewer or call fewer functions of math";
      result = failure();
    }
  return result;
}

LogicalResult rules::verifyModuleSize(Operation *module, ArrayRef<Operation *> roots) {
  int64_t ops = 0;
  for (Operation *root : roots)
    root->walk([&](Operation *) {
      return ++ops > kMaxModuleOps ? WalkResult::interrupt() : WalkResult::advance();
    });
  if (ops > kMaxModuleOps)
    return module->emitOpError() << "[S6] holds more than " << kMaxModuleOps
                                 << " operations; remove helpers that nothing calls, or split it";
  return success();
}
