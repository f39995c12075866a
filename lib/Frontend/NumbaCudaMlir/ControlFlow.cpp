//===- ControlFlow.cpp - From branches between blocks to scf.if -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;

namespace {
/// Values that exist on some paths only are zero on the others, where nobody uses them:
/// poison has no place in a body.
struct Lifting : ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    if (TypedAttr zero = builder.getZeroAttr(type))
      return arith::ConstantOp::create(builder, loc, zero);
    return ControlFlowToSCFTransformation::getUndefValue(loc, builder, type);
  }
};
} // namespace

/// Loops are gone already, so what closes a cycle has two entries.
static LogicalResult checkAcyclic(Region &region) {
  llvm::DenseMap<Block *, unsigned> incoming;
  unsigned left = 0;
  for (Block &block : region) {
    ++left;
    for (Block *next : block.getSuccessors())
      ++incoming[next];
  }
  SmallVector<Block *> ready;
  for (Block &block : region)
    if (!incoming.lookup(&block))
      ready.push_back(&block);
  while (!ready.empty()) {
    Block *block = ready.pop_back_val();
    incoming.erase(block);
    --left;
    for (Block *next : block->getSuccessors())
      if (--incoming[next] == 0)
        ready.push_back(next);
  }
  if (!left)
    return success();
  for (Block &block : region)
    if (incoming.lookup(&block))
      return emitError(block.getTerminator()->getLoc())
             << "[P16] is part of a loop that is entered in its middle; a metric's loops are for "
                "over range()";
  return success();
}

/// One scf.if a case: bodies have no switch.
static void expandSwitch(scf::IndexSwitchOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> results;
  auto fill = [](Region &to, Region &from) { to.takeBody(from); };
  if (op.getCases().empty()) {
    Block &block = op.getDefaultBlock();
    results = llvm::to_vector(block.getTerminator()->getOperands());
    block.getTerminator()->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), block.getOperations());
  }
  for (auto [i, value] : llvm::enumerate(op.getCases())) {
    Value constant = arith::ConstantIndexOp::create(builder, loc, value);
    Value equal =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, op.getArg(), constant);
    auto branch = scf::IfOp::create(builder, loc, op.getResultTypes(), equal, false, false);
    fill(branch.getThenRegion(), op.getCaseRegions()[i]);
    if (i == 0)
      results = llvm::to_vector_of<Value>(branch.getResults());
    else
      scf::YieldOp::create(builder, loc, branch.getResults());
    if (i + 1 == op.getCases().size())
      fill(branch.getElseRegion(), op.getDefaultRegion());
    else
      builder.setInsertionPointToStart(&branch.getElseRegion().emplaceBlock());
  }
  op->replaceAllUsesWith(results);
  op.erase();
}

FailureOr<int64_t> frontend::structureRegion(Region &region) {
  FailureOr<int64_t> loops = convertLoops(region);
  if (failed(loops) || failed(checkAcyclic(region)))
    return failure();
  mergeConditions(region);
  if (region.hasOneBlock())
    return loops;
  Lifting lifting;
  DominanceInfo dominance(region.getParentOp());
  if (failed(transformCFGToSCF(region, lifting, dominance)))
    return failure(); // Only for what checkForm refuses.
  SmallVector<scf::IndexSwitchOp> switches;
  region.walk([&](scf::IndexSwitchOp op) { switches.push_back(op); });
  for (scf::IndexSwitchOp op : switches)
    expandSwitch(op);
  return loops;
}

FailureOr<int64_t> frontend::structureRegions(Operation *root) {
  int64_t loops = 0;
  SmallVector<Region *> regions;
  root->walk<WalkOrder::PostOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      regions.push_back(&region);
  });
  for (Region *region : regions) {
    FailureOr<int64_t> count = structureRegion(*region);
    if (failed(count))
      return failure();
    loops += *count;
  }
  return loops;
}
