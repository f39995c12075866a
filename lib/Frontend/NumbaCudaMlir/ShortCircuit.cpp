//===- ShortCircuit.cpp - One branch for and, or and chained comparisons -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;

/// Most ops that are computed although the first condition has decided.
static constexpr int kMaxSpeculated = 8;

/// Ops that may run where the program would not have: cheap ones of arith.
static bool isCheap(Operation &op) {
  return isa<arith::ArithDialect>(op.getDialect()) && isPure(&op);
}

/// Whether `second` is reached from `first` only and cheap enough to be computed always.
static bool isSecondCondition(Block *second, Block *first) {
  if (second == first || second->getSinglePredecessor() != first || second->getNumArguments())
    return false;
  auto ops = second->without_terminator();
  return std::distance(ops.begin(), ops.end()) <= kMaxSpeculated && llvm::all_of(ops, isCheap);
}

static void moveOps(Block *from, Operation *before) {
  before->getBlock()->getOperations().splice(before->getIterator(), from->getOperations(),
                                             from->begin(), from->getTerminator()->getIterator());
}

static OperandRange operandsOf(cf::CondBranchOp op, unsigned successor) {
  return successor == 0 ? op.getTrueDestOperands() : op.getFalseDestOperands();
}

/// `a ? b : c` for the operands of two edges.
static SmallVector<Value> selectEach(OpBuilder &builder, Location loc, Value a, OperandRange b,
                                     OperandRange c) {
  SmallVector<Value> values;
  for (auto [x, y] : llvm::zip(b, c))
    values.push_back(x == y ? x : arith::SelectOp::create(builder, loc, a, x, y).getResult());
  return values;
}

/// `first` goes to `second` or to `shared`, and `second` to `shared` with another boolean:
/// that boolean is what `a and b` is as a value.
static bool mergeValue(cf::CondBranchOp outer, unsigned toSecond, cf::BranchOp inner) {
  Block *second = inner->getBlock(), *shared = outer->getSuccessor(1 - toSecond);
  if (inner.getDest() != shared)
    return false;
  OperandRange early = operandsOf(outer, 1 - toSecond), late = inner.getDestOperands();
  for (auto [x, y] : llvm::zip(early, late))
    if (x != y && !x.getType().isInteger(1))
      return false;
  moveOps(second, outer);
  OpBuilder builder(outer);
  Location loc = outer.getLoc();
  SmallVector<Value> operands = toSecond == 0
                                    ? selectEach(builder, loc, outer.getCondition(), late, early)
                                    : selectEach(builder, loc, outer.getCondition(), early, late);
  cf::BranchOp::create(builder, loc, shared, operands);
  outer.erase();
  second->erase();
  return true;
}

/// `first` goes to `second` or to `shared`, and `second` to `shared` or elsewhere: one
/// branch on both conditions.
static bool mergeBranch(cf::CondBranchOp outer, unsigned toSecond, cf::CondBranchOp inner) {
  Block *second = inner->getBlock(), *shared = outer->getSuccessor(1 - toSecond);
  if (inner.getTrueDest() == inner.getFalseDest() ||
      (inner.getTrueDest() != shared && inner.getFalseDest() != shared))
    return false;
  unsigned toShared = inner.getTrueDest() == shared ? 0 : 1;
  moveOps(second, outer);
  OpBuilder builder(outer);
  Location loc = outer.getLoc();
  Value a = outer.getCondition(), b = inner.getCondition();
  OperandRange early = operandsOf(outer, 1 - toSecond), late = operandsOf(inner, toShared);
  SmallVector<Value> sharedOperands = toSecond == 0 ? selectEach(builder, loc, a, late, early)
                                                    : selectEach(builder, loc, a, early, late);
  auto invert = [&](Value bit) -> Value {
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return arith::XOrIOp::create(builder, loc, bit, one);
  };
  Block *other = inner->getSuccessor(1 - toShared);
  SmallVector<Value> otherOperands(operandsOf(inner, 1 - toShared));
  if (toSecond == 0) { // a and ...
    Value both = arith::AndIOp::create(builder, loc, a, toShared == 1 ? b : invert(b));
    cf::CondBranchOp::create(builder, loc, both, other, otherOperands, shared, sharedOperands);
  } else { // a or ...
    Value either = arith::OrIOp::create(builder, loc, a, toShared == 0 ? b : invert(b));
    cf::CondBranchOp::create(builder, loc, either, shared, sharedOperands, other, otherOperands);
  }
  outer.erase();
  second->erase();
  return true;
}

static bool merge(cf::CondBranchOp outer) {
  if (outer.getTrueDest() == outer.getFalseDest())
    return false;
  for (unsigned toSecond : {0, 1}) {
    Block *second = outer->getSuccessor(toSecond);
    if (!isSecondCondition(second, outer->getBlock()))
      continue;
    auto branch = dyn_cast<cf::CondBranchOp>(second->getTerminator());
    auto jump = dyn_cast<cf::BranchOp>(second->getTerminator());
    if ((branch && mergeBranch(outer, toSecond, branch)) ||
        (jump && mergeValue(outer, toSecond, jump)))
      return true;
  }
  return false;
}

void frontend::mergeConditions(Region &region) {
  bool changed = true;
  while (changed) {
    changed = false;
    // `block` stays and the one after it may go, so its terminator is looked at again.
    for (Block &block : region)
      while (true) {
        auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
        if (!branch || !merge(branch))
          break;
        changed = true;
      }
  }
}
