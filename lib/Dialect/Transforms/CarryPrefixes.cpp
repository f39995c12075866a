//===- CarryPrefixes.cpp - Loops over the coordinates so far --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cumulative sum is, at each coordinate, a loop over all coordinates up to it. The loop around it
// has been there before, so it can carry what that loop computes: the same operations in the same
// order, once for each coordinate.
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"

#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_CARRYPREFIXESPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

/// Whether a bound is one more than the counter of `around`.
static bool isNextOf(Value bound, scf::ForOp around) {
  auto sum = withoutCasts(bound).getDefiningOp<arith::AddIOp>();
  if (!sum)
    return false;
  const Value counter = around.getInductionVar();
  return (withoutCasts(sum.getLhs()) == counter && numberOf(sum.getRhs()) == 1) ||
         (withoutCasts(sum.getRhs()) == counter && numberOf(sum.getLhs()) == 1);
}

/// The ops in the body of `around` that `value` is computed by, or nothing if the value differs
/// between its turns.
static bool collectInvariant(Value value, scf::ForOp around, Operation *except, Slice &ops) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != around.getBody();
  Operation *top = around.getBody()->findAncestorOpInBlock(*value.getDefiningOp());
  if (!top || top == except || ops.contains(top))
    return true;
  if (isa<scf::ForOp>(top))
    return false; // Not moved, whatever it does.
  ops.insert(top);
  bool invariant = true;
  forEachUsed(top, [&](Value used) {
    Operation *definer = used.getDefiningOp();
    const bool isInside = definer ? top->isProperAncestor(definer)
                                  : top->isAncestor(used.getParentRegion()->getParentOp());
    invariant = invariant && (isInside || collectInvariant(used, around, except, ops));
  });
  return invariant;
}

/// Moves what the turns of `prefix` need, beside its counter, before the loop `around`; fails where
/// that differs between the turns of `around`.
static LogicalResult moveWhatItNeeds(scf::ForOp prefix, scf::ForOp around) {
  Slice ops;
  bool invariant = true;
  auto add = [&](Value value) {
    Operation *definer = value.getDefiningOp();
    const bool isInside = definer ? prefix->isProperAncestor(definer)
                                  : prefix->isAncestor(value.getParentRegion()->getParentOp());
    invariant = invariant && (isInside || collectInvariant(value, around, prefix, ops));
  };
  for (Value initial : prefix.getInitArgs())
    add(initial);
  prefix.getBody()->walk([&](Operation *op) { llvm::for_each(op->getOperands(), add); });
  if (!invariant)
    return failure();
  for (Operation &op : llvm::make_early_inc_range(*around.getBody()))
    if (ops.contains(&op))
      op.moveBefore(around);
  return success();
}

/// Makes the loop around carry what `prefix` computes.
static void carry(scf::ForOp prefix, scf::ForOp around) {
  IRRewriter rewriter(prefix.getContext());
  rewriter.setInsertionPoint(around);
  SmallVector<Value> initial(prefix.getInitArgs());
  auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
    OpBuilder builder(prefix);
    IRMapping mapping;
    auto inside = cast<scf::ForOp>(prefix->getParentOp());
    Value counter = inside.getInductionVar();
    if (counter.getType() != prefix.getInductionVar().getType())
      counter = arith::IndexCastOp::create(builder, prefix.getLoc(),
                                           prefix.getInductionVar().getType(), counter);
    mapping.map(prefix.getInductionVar(), counter);
    mapping.map(prefix.getRegionIterArgs(), carried);
    for (Operation &op : prefix.getBody()->without_terminator())
      builder.clone(op, mapping);
    return llvm::map_to_vector(prefix.getYieldedValues(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  const unsigned before = around.getNumResults();
  auto carrying = cast<scf::ForOp>(*around.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, next));
  prefix->replaceAllUsesWith(ValueRange(carrying.getYieldedValues()).drop_front(before));
  prefix.erase();
}

namespace {
struct CarryPrefixesPass : annudf::impl::CarryPrefixesPassBase<CarryPrefixesPass> {
  void runOnOperation() override {
    for (auto pairwise : collectIn<PairwiseOp>(getOperation()))
      while (carryOne(pairwise.getDistance()))
        ++numCarried;
  }

private:
  /// Inner loops come first, as those around them may then be such loops too.
  static bool carryOne(DistanceOp distance) {
    return distance
        ->walk([&](scf::ForOp prefix) {
          auto around = prefix->getParentOfType<scf::ForOp>();
          if (!around || !countsFromZero(prefix) || !countsFromZero(around) ||
              !isNextOf(prefix.getUpperBound(), around))
            return WalkResult::advance();
          takeOutOfBranches(prefix);
          if (failed(moveWhatItNeeds(prefix, around)))
            return WalkResult::advance();
          carry(prefix, around);
          return WalkResult::interrupt();
        })
        .wasInterrupted();
  }
};
} // namespace
