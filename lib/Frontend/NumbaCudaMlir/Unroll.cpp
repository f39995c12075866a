//===- Unroll.cpp - Loops whose counter has to be a constant -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

/// An amount to shift by or a divisor, which the ABI wants constant (B4, B6).
static bool needsConstant(OpOperand &use) {
  return use.getOperandNumber() == 1 &&
         (use.getOwner()->hasAttr(kShiftAttr) ||
          isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(use.getOwner()));
}

/// Whether such an operand is computed from the counter of the loop.
static bool countsForConstant(scf::ForOp loop) {
  SmallVector<Value> pending = {loop.getInductionVar()};
  llvm::DenseSet<Operation *> seen;
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses()) {
      if (needsConstant(use))
        return true;
      Operation *op = use.getOwner();
      if (isa<arith::ArithDialect>(op->getDialect()) && seen.insert(op).second)
        llvm::append_range(pending, op->getResults());
    }
  return false;
}

static void unroll(scf::ForOp loop, const APInt &lower, const APInt &step, int64_t trips) {
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop.getInitArgs());
  APInt counter = lower;
  for (int64_t i = 0; i < trips; ++i, counter += step) {
    IRMapping mapping;
    Type type = loop.getInductionVar().getType();
    mapping.map(
        loop.getInductionVar(),
        arith::ConstantOp::create(builder, loop.getLoc(), builder.getIntegerAttr(type, counter)));
    mapping.map(loop.getRegionIterArgs(), carried);
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, mapping);
    for (auto [value, yielded] : llvm::zip(carried, loop.getBody()->getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(yielded);
  }
  loop->replaceAllUsesWith(carried);
  loop.erase();
}

bool frontend::unrollForConstants(UdfOpInterface metric) {
  SmallVector<scf::ForOp> loops;
  metric->walk([&](scf::ForOp loop) {
    if (countsForConstant(loop))
      loops.push_back(loop);
  });
  bool changed = false;
  // Inner loops first: walk visits them first, and their copies need no second look.
  for (scf::ForOp loop : loops) {
    APInt lower, upper, step;
    if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
        !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive() ||
        upper.sle(lower))
      continue;
    int64_t ops = 0;
    loop.walk([&](Operation *) { ++ops; });
    APInt trips = (upper - lower + step - 1).udiv(step);
    // Larger than what S5 allows either way.
    if (trips.ugt(kMaxTripCount) || trips.getZExtValue() * ops > 2 * kMaxUnrolledOps)
      continue;
    unroll(loop, lower, step, trips.getZExtValue());
    changed = true;
  }
  return changed;
}
