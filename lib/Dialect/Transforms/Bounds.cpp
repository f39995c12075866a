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

#include <algorithm>
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

LogicalResult rules::verifyLoopOfDistance(scf::ForOp loop, const RangeAnalysis &ranges) {
  if (LoopBounds::of(loop))
    return verifyLoop(loop);
  if (runsOf(ranges, loop))
    return success();
  return loop.emitOpError() << "[W20] may run for ever: its end is not proved to be at most dims + "
                            << kMaxTripCount
                            << ", or its step is no positive constant; count upwards to a constant "
                               "or to dims, and choose inside the loop with if";
}

LogicalResult rules::verifyScratch(PairwiseOp pairwise) {
  int64_t bytes = 0, perDim = 0;
  for (auto scratch : pairwise.getDistance().getBody().getOps<ScratchOp>()) {
    const int64_t size = scratch.getType().getElementBytes();
    bytes += scratch.getType().getEntries() * size;
    perDim += scratch.getType().getPerDim() ? size : 0;
    if (bytes > ANNUDF_MAX_SCRATCH || perDim > ANNUDF_MAX_SCRATCH_DIM)
      return scratch.emitOpError()
             << "[W22] makes " << bytes << " bytes of scratch and " << perDim
             << " for each dimension, more than " << int(ANNUDF_MAX_SCRATCH) << " and "
             << int(ANNUDF_MAX_SCRATCH_DIM) << "; keep fewer or smaller arrays";
  }
  return success();
}

/// The power of dims that the steps of what is below `op` grow with.
static int degreeBelow(Operation *op, const llvm::DenseSet<Operation *> &perDim) {
  int most = 0;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      most = std::max(most, degreeBelow(&inner, perDim) + int(perDim.contains(&inner)));
  return most;
}

int annudf::costOf(DistanceOp distance, SizeCounter *counter) {
  const RangeAnalysis ranges(distance);
  llvm::DenseSet<Operation *> perDim;
  distance->walk([&](scf::ForOp loop) {
    const std::optional<LoopRuns> runs = runsOf(ranges, loop);
    if (LoopBounds::of(loop) || !runs)
      return;
    if (runs->perDim)
      perDim.insert(loop);
    if (counter)
      counter->setRuns(loop, uint64_t(std::max<int64_t>(1, runs->most)));
  });
  const auto scratch = distance.getBody().getOps<ScratchOp>();
  return std::max(degreeBelow(distance, perDim), scratch.empty() ? 0 : 1);
}

/// Distances of whole vectors take at most so many steps, in powers of the number of dimensions.
static constexpr int kMostDegree = 2;

static LogicalResult verifyCost(DistanceOp distance, SizeCounter &counter) {
  const int degree = costOf(distance, &counter);
  if (degree <= kMostDegree)
    return success();
  return distance.emitOpError() << "[W21] takes dims to the power of " << degree
                                << " steps; nest at most " << kMostDegree
                                << " loops over the dimensions";
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
      if (auto distance = dyn_cast<DistanceOp>(hook.getOperation()))
        if (failed(verifyCost(distance, counter)))
          result = failure();
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
