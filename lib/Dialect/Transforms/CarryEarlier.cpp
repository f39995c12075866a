//===- CarryEarlier.cpp - Coordinates of earlier turns --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over the coordinates that reads x[i - 1] beside x[i] has read it in the turn before. So it
// carries it, and reads one coordinate in each turn. A condition has to say that there was such a
// turn, as an earlier coordinate than the first is none.
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"

#include "annudf/Dialect/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

namespace annudf {
#define GEN_PASS_DEF_CARRYEARLIERPASS
#include "annudf/Dialect/Transforms/Passes.h.inc"
} // namespace annudf

/// As many turns back as a coordinate is carried; each takes a field of the accumulator.
static constexpr int64_t kMostBack = 4;

/// What is added to the counter of a loop, if `value` is nothing else.
static std::optional<int64_t> offsetOf(Value value, Value counter) {
  value = withoutCasts(value);
  if (value == counter)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  Value other = op->getOperand(0);
  std::optional<int64_t> number = numberOf(op->getOperand(1));
  if (!number && isa<arith::AddIOp>(op)) {
    number = numberOf(other);
    other = op->getOperand(1);
  }
  const std::optional<int64_t> before = number ? offsetOf(other, counter) : std::nullopt;
  if (!before)
    return std::nullopt;
  return *before + (isa<arith::SubIOp>(op) ? -*number : *number);
}

/// The least counter for which a condition is `outcome`; 0 where that says nothing of it.
static int64_t leastCounter(Value condition, bool outcome, Value counter) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return 0;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!outcome)
    predicate = arith::invertPredicate(predicate);
  const std::optional<int64_t> offset = offsetOf(compare.getLhs(), counter);
  const std::optional<int64_t> number = numberOf(compare.getRhs());
  if (!offset || !number)
    return 0;
  switch (predicate) {
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::eq:
    return *number - *offset;
  case arith::CmpIPredicate::sgt:
    return *number - *offset + 1;
  case arith::CmpIPredicate::ne:
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    return 0;
  }
  llvm_unreachable("a comparison of integers that MLIR does not have");
}

/// Whether the conditions around `read` say that so many turns came before.
static bool isReached(AtOp read, scf::ForOp loop, int64_t back) {
  for (Operation *op = read; op != loop; op = op->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!branch)
      continue;
    const bool outcome = op->getParentRegion() == &branch.getThenRegion();
    if (leastCounter(branch.getCondition(), outcome, loop.getInductionVar()) >= back)
      return true;
  }
  return false;
}

namespace {
/// The reads of a vector in a loop by how many turns back they are.
struct Reads {
  SmallVector<std::pair<AtOp, int64_t>> reads;
  int64_t most = 0;
};

struct CarryEarlierPass : annudf::impl::CarryEarlierPassBase<CarryEarlierPass> {
  void runOnOperation() override {
    for (auto pairwise : collectIn<PairwiseOp>(getOperation())) {
      DistanceOp distance = pairwise.getDistance();
      takeLoopsOutOfBranches(distance);
      for (auto loop : llvm::to_vector(distance.getHookBlock()->getOps<scf::ForOp>()))
        for (Value vector : distance.getHookBlock()->getArguments())
          loop = carry(loop, vector);
    }
  }

private:
  Reads readsOf(scf::ForOp loop, Value vector) {
    Reads found;
    loop->walk([&](AtOp read) {
      const std::optional<int64_t> offset = offsetOf(read.getIndex(), loop.getInductionVar());
      if (read.getVector() != vector || !offset || *offset > 0 || -*offset > kMostBack ||
          withoutCasts(read.getIndex()) == loop.getInductionVar() ||
          (*offset < 0 && !isReached(read, loop, -*offset)))
        return;
      found.reads.push_back({read, -*offset});
      found.most = std::max(found.most, -*offset);
    });
    return found;
  }

  scf::ForOp carry(scf::ForOp loop, Value vector) {
    if (!countsFromZero(loop))
      return loop;
    const Reads found = readsOf(loop, vector);
    if (found.reads.empty())
      return loop;
    const Location loc = loop.getLoc();
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    const Type type = cast<CoordinatesType>(vector.getType()).getElementType();
    Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    const unsigned before = loop.getNumResults();
    SmallVector<Value> initial(found.most, zero); // Never read.
    Value now;
    auto readNow = [&](OpBuilder &builder, Block &body) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&body);
      Value counter = body.getArgument(0);
      if (!counter.getType().isIndex())
        counter = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), counter);
      now = AtOp::create(builder, loc, vector, counter);
    };
    auto next = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> carried) {
      readNow(builder, *carried.front().getOwner());
      SmallVector<Value> values = {now};
      llvm::append_range(values, carried.drop_back());
      return values;
    };
    auto carrying = loop;
    if (initial.empty())
      readNow(rewriter, *loop.getBody());
    else
      carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
          rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, next));
    for (auto [read, back] : found.reads) {
      read.getResult().replaceAllUsesWith(
          back == 0 ? now : carrying.getRegionIterArgs()[before + back - 1]);
      read.erase();
      ++numCarried;
    }
    return carrying;
  }
};
} // namespace
