//===- Shifts.cpp - Shifts whose amount is too large are no values -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

static bool isTooLarge(Value amount) {
  APInt value;
  return matchPattern(amount, m_ConstantInt(&value)) && value.uge(integerWidth(amount.getType()));
}

/// The shift that a cast stands for.
static Operation *makeShift(OpBuilder &builder, UnrealizedConversionCastOp cast) {
  OperationState state(cast.getLoc(), cast->getAttrOfType<StringAttr>(kShiftAttr).getValue());
  state.addOperands(cast.getInputs());
  state.addTypes(cast.getResultTypes());
  return builder.create(state);
}

void frontend::guardShifts(UdfOpInterface metric) {
  SmallVector<Operation *> shifts;
  metric->walk([&](Operation *op) {
    if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) &&
        integerWidth(op->getOperand(1).getType()))
      shifts.push_back(op);
  });
  for (Operation *op : shifts) {
    OpBuilder builder(op);
    auto cast = UnrealizedConversionCastOp::create(builder, op->getLoc(), op->getResultTypes(),
                                                   op->getOperands());
    cast->setAttr(kShiftAttr, builder.getStringAttr(op->getName().getStringRef()));
    op->replaceAllUsesWith(cast);
    op->erase();
  }
}

namespace {
struct ShiftByConstant : OpRewritePattern<UnrealizedConversionCastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnrealizedConversionCastOp cast,
                                PatternRewriter &rewriter) const override {
    APInt amount;
    if (!cast->hasAttr(kShiftAttr) || !matchPattern(cast.getOperand(1), m_ConstantInt(&amount)) ||
        isTooLarge(cast.getOperand(1)))
      return failure();
    rewriter.replaceOp(cast, makeShift(rewriter, cast));
    return success();
  }
};
} // namespace

void frontend::addShiftPatterns(RewritePatternSet &patterns) {
  patterns.add<ShiftByConstant>(patterns.getContext());
}

LogicalResult frontend::restoreShifts(UdfOpInterface metric) {
  SmallVector<UnrealizedConversionCastOp> casts;
  metric->walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  LogicalResult result = success();
  for (UnrealizedConversionCastOp cast : casts) {
    if (isTooLarge(cast.getOperand(1)))
      result = emitError(cast.getLoc())
               << "[P19] shifts " << cast.getType(0) << " by the number of its bits or more, which "
               << "has no value; shift by less";
    OpBuilder builder(cast);
    cast->replaceAllUsesWith(makeShift(builder, cast));
    cast.erase();
  }
  return result;
}
