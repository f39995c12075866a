//===- Bounds.cpp - Loops end, helpers do not recurse, hooks stay small -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace {
/// Bounds of a loop as they are compared, signed or unsigned; an index has 64 bits.
struct LoopBounds {
  APInt lower, upper, step;
  bool isUnsigned = false;
};
} // namespace

/// Empty unless all three are constants.
static std::optional<LoopBounds> boundsOf(scf::ForOp loop) {
  LoopBounds bounds;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&bounds.lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&bounds.upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&bounds.step)))
    return std::nullopt;
  bounds.isUnsigned = loop.getUnsignedCmp();
  return bounds;
}

/// Saturates at INT64_MAX.
static int64_t tripCountOf(const LoopBounds &bounds) {
  auto wide = [&](const APInt &value) {
    return bounds.isUnsigned ? value.zext(128) : value.sext(128);
  };
  APInt span = wide(bounds.upper) - wide(bounds.lower);
  if (!span.isStrictlyPositive())
    return 0;
  APInt step = bounds.step.zext(128);
  return (span + step - 1).udiv(step).getLimitedValue(INT64_MAX);
}

int64_t rules::tripCount(scf::ForOp loop) { return tripCountOf(*boundsOf(loop)); }

LogicalResult rules::verifyLoop(scf::ForOp loop) {
  std::optional<LoopBounds> bounds = boundsOf(loop);
  if (!bounds)
    return loop.emitOpError() << "[S1] may run for ever; give it constant bounds and step, and "
                                 "choose inside the loop with scf.if or arith.select";
  if (!bounds->step.isStrictlyPositive())
    return loop.emitOpError() << "[S2] needs a positive step, got " << bounds->step.getSExtValue()
                              << "; count upwards";
  int64_t trips = tripCountOf(*bounds);
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

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

static SmallVector<func::CallOp> callsIn(Operation *root) {
  SmallVector<func::CallOp> calls;
  root->walk([&](func::CallOp call) { calls.push_back(call); });
  return calls;
}

namespace {
/// Which helper calls which, walked without recursion: a chain of helpers may be long.
class CallGraph {
public:
  explicit CallGraph(ModuleOp module) {
    for (auto helper : module.getOps<func::FuncOp>())
      byName[helper.getSymName()] = helper;
    llvm::DenseMap<Operation *, unsigned> pending;
    llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> callers;
    SmallVector<func::FuncOp> ready;
    for (auto helper : module.getOps<func::FuncOp>()) {
      SmallVector<func::CallOp> calls = callsIn(helper);
      pending[helper] = calls.size();
      for (func::CallOp call : calls)
        callers[callee(call)].push_back(helper);
      if (calls.empty())
        ready.push_back(helper);
    }
    while (!ready.empty()) {
      func::FuncOp helper = ready.pop_back_val();
      ordered.push_back(helper);
      acyclic.insert(helper);
      for (func::FuncOp caller : callers[helper])
        if (--pending[caller] == 0)
          ready.push_back(caller);
    }
  }

  func::FuncOp callee(func::CallOp call) const { return byName.lookup(call.getCallee()); }

  /// Helpers that reach no recursion, callees before callers.
  ArrayRef<func::FuncOp> order() const { return ordered; }

  /// A call that closes a circle reachable from `helper`, null if there is none.
  func::CallOp findCycle(func::FuncOp helper) const {
    if (acyclic.contains(helper))
      return nullptr;
    // What is not acyclic calls something that is not; so the walk comes back.
    llvm::DenseSet<Operation *> path;
    while (true) {
      path.insert(helper);
      SmallVector<func::CallOp> calls = callsIn(helper);
      auto *next =
          llvm::find_if(calls, [&](func::CallOp call) { return !acyclic.contains(callee(call)); });
      helper = callee(*next);
      if (path.contains(helper))
        return *next;
    }
  }

private:
  llvm::StringMap<func::FuncOp> byName;
  SmallVector<func::FuncOp> ordered;
  llvm::DenseSet<Operation *> acyclic;
};
} // namespace

LogicalResult rules::verifyNoRecursion(ModuleOp module) {
  CallGraph graph(module);
  for (auto helper : module.getOps<func::FuncOp>())
    if (func::CallOp cycle = graph.findCycle(helper))
      return cycle.emitOpError() << "[F4] closes a recursion through @" << cycle.getCallee()
                                 << "; helpers cannot call themselves, use scf.for";
  return success();
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

namespace {
/// Counts what is left of a body once loops are unrolled and helpers inlined.
class SizeCounter {
public:
  explicit SizeCounter(ModuleOp module) : graph(module) {
    for (func::FuncOp helper : graph.order())
      helpers[helper] = below(helper);
  }

  uint64_t below(Operation *root) const {
    uint64_t size = 0;
    for (Region &region : root->getRegions())
      for (Block &block : region)
        for (Operation &op : block)
          size = llvm::SaturatingAdd(size, of(&op));
    return size;
  }

private:
  uint64_t of(Operation *op) const {
    uint64_t size = below(op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      size = llvm::SaturatingMultiply(size, static_cast<uint64_t>(rules::tripCount(loop)));
    if (auto call = dyn_cast<func::CallOp>(op))
      size = helpers.lookup(graph.callee(call));
    return llvm::SaturatingAdd(size, uint64_t(1));
  }

  CallGraph graph;
  llvm::DenseMap<Operation *, uint64_t> helpers;
};
} // namespace

LogicalResult rules::verifySize(ModuleOp module, AbiCounts &counts) {
  SizeCounter counter(module);
  LogicalResult result = success();
  module.walk([&](HookOpInterface hook) {
    uint64_t size = counter.below(hook);
    counts.maxUnrolled = std::max<int64_t>(
        counts.maxUnrolled, std::min<uint64_t>(size, std::numeric_limits<int64_t>::max()));
    if (size <= static_cast<uint64_t>(kMaxUnrolledOps))
      return;
    hook.emitOpError() << "[S5] has " << size << " operations with its loops unrolled and its "
                       << "helpers inlined, more than " << kMaxUnrolledOps
                       << "; shorten the loops or nest fewer";
    result = failure();
  });
  return result;
}
