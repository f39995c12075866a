//===- PairwiseLoops.cpp - Loops of whole-vector distances ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairwiseLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::ir;

Value annudf::withoutCasts(Value value) {
  // A counter, and the number of dimensions, fit 32 bits.
  const auto isNarrow = [](Type type) {
    return type.isInteger() && type.getIntOrFloatBitWidth() < 32;
  };
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(op) || isNarrow(value.getType()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

std::optional<int64_t> annudf::numberOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

bool annudf::countsFromZero(scf::ForOp loop) {
  return numberOf(loop.getLowerBound()) == 0 && numberOf(loop.getStep()) == 1;
}

bool annudf::isOverCoordinates(scf::ForOp loop) {
  APInt end;
  return !matchPattern(loop.getUpperBound(), m_ConstantInt(&end)) ||
         loop.getBody()->walk([](AtOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Moves an op out of the branch that it stands in, after what it needs of it.
static void moveOut(Operation *op, scf::IfOp branch) {
  Block &from = *op->getBlock();
  Slice needed;
  needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i)
    forEachUsed(needed[i], [&](Value value) {
      if (Operation *definer = value.getDefiningOp())
        if (Operation *top = from.findAncestorOpInBlock(*definer))
          needed.insert(top);
    });
  for (Operation &each : llvm::make_early_inc_range(from))
    if (needed.contains(&each))
      each.moveBefore(branch);
}

void annudf::takeOutOfBranches(scf::ForOp loop) {
  while (auto branch = dyn_cast<scf::IfOp>(loop->getParentOp()))
    moveOut(loop, branch);
}

void annudf::takeLoopsOutOfBranches(DistanceOp distance) {
  SmallVector<scf::ForOp> found;
  distance->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!isOverCoordinates(loop))
      return WalkResult::advance();
    found.push_back(loop);
    return WalkResult::skip();
  });
  llvm::for_each(found, takeOutOfBranches);
}
