//===- Simplify.cpp - Simplification that keeps every bit -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the frontend emits is simplified so that loops can be counted, branches merged and
// conditions recognised. Arithmetic is simplified by the few patterns below, each of
// which keeps every bit: upstream's for arith lose roundings and truncations, and its
// folds run on whatever the driver visits, so both stay out. Control flow (cf, scf) is
// upstream's, which moves values and computes none.
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::frontend;
using namespace annudf::ir;

static bool isConstant(Value value, int64_t number) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64 &&
         constant.getSExtValue() == number;
}
static bool isAllOnes(Value value) { return isConstant(value, -1); }

namespace {

/// Integers computed from constants, by the evaluator that counts loops too.
struct IntegerConstants : RewritePattern {
  explicit IntegerConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()) || isa<arith::ConstantOp>(op) ||
        op->getNumResults() != 1)
      return failure();
    SmallVector<APInt> operands;
    for (Value operand : op->getOperands()) {
      APInt constant;
      if (!integerWidth(operand.getType()) || !matchPattern(operand, m_ConstantInt(&constant)))
        return failure();
      operands.push_back(constant);
    }
    std::optional<APInt> value = evaluate(op, operands);
    if (!value)
      return failure();
    Type type = op->getResult(0).getType();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getIntegerAttr(type, *value));
    return success();
  }
};

/// Literals in another type: one rounding, to nearest even, as the cast has.
struct FloatConstants : RewritePattern {
  explicit FloatConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    constexpr auto nearest = APFloat::rmNearestTiesToEven;
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::NegFOp>(op))
      return failure();
    auto type = dyn_cast<FloatType>(op->getResult(0).getType());
    if (auto truncate = dyn_cast<arith::TruncFOp>(op); truncate && truncate.getRoundingmode())
      return failure();
    Attribute constant;
    if (!type || !matchPattern(op->getOperand(0), m_Constant(&constant)))
      return failure();
    APFloat value(type.getFloatSemantics());
    if (auto number = dyn_cast<FloatAttr>(constant)) {
      bool exact = true;
      value = number.getValue();
      if (value.isNaN())
        return failure();
      value.convert(type.getFloatSemantics(), nearest, &exact);
      if (isa<arith::NegFOp>(op))
        value.changeSign();
    } else if (auto integer = dyn_cast<IntegerAttr>(constant)) {
      value.convertFromAPInt(integer.getValue(), isa<arith::SIToFPOp>(op), nearest);
    } else {
      return failure();
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getFloatAttr(type, value));
    return success();
  }
};

/// A choice of literals in another type, as `2.0 if c else 1.5` that meets a float32: each takes
/// that type, as a literal by itself does.
struct ChosenConstants : RewritePattern {
  explicit ChosenConstants(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::TruncFOp, arith::SIToFPOp>(op))
      return failure();
    auto choice = op->getOperand(0).getDefiningOp<arith::SelectOp>();
    if (!choice || !areLiterals(choice, 0))
      return failure();
    auto converted = [&](Value side) {
      Operation *conversion = rewriter.clone(*op);
      conversion->setOperand(0, side);
      return conversion->getResult(0);
    };
    const Value yes = converted(choice.getTrueValue()), no = converted(choice.getFalseValue());
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, choice.getCondition(), yes, no);
    return success();
  }

private:
  static constexpr int kMostChoices = 8; ///< Within one another: each level may double the rest.
  static bool areLiterals(Value value, int depth) {
    if (matchPattern(value, m_Constant()))
      return true;
    auto choice = value.getDefiningOp<arith::SelectOp>();
    return choice && depth < kMostChoices && areLiterals(choice.getTrueValue(), depth + 1) &&
           areLiterals(choice.getFalseValue(), depth + 1);
  }
};

/// Literals that are added, subtracted, multiplied or divided: Python's own numbers, mostly.
/// One rounding, to nearest even, as the operation has; a NaN is left to the device.
struct FloatArithmetic : RewritePattern {
  explicit FloatArithmetic(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    constexpr auto nearest = APFloat::rmNearestTiesToEven;
    FloatAttr left, right;
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op) ||
        !matchPattern(op->getOperand(0), m_Constant(&left)) ||
        !matchPattern(op->getOperand(1), m_Constant(&right)))
      return failure();
    APFloat value = left.getValue();
    if (isa<arith::AddFOp>(op))
      value.add(right.getValue(), nearest);
    else if (isa<arith::SubFOp>(op))
      value.subtract(right.getValue(), nearest);
    else if (isa<arith::MulFOp>(op))
      value.multiply(right.getValue(), nearest);
    else
      value.divide(right.getValue(), nearest);
    if (value.isNaN())
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getFloatAttr(op->getResult(0).getType(), value));
    return success();
  }
};

/// x + 0, x * 1, x and -1, x - x, ...
struct IntegerIdentities : RewritePattern {
  explicit IntegerIdentities(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
        !integerWidth(op->getResult(0).getType()))
      return failure();
    if (Value same = simpler(op, op->getOperand(0), op->getOperand(1))) {
      rewriter.replaceOp(op, same);
      return success();
    }
    if (op->getOperand(0) != op->getOperand(1) || !isa<arith::SubIOp, arith::XOrIOp>(op))
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getIntegerAttr(op->getResult(0).getType(), 0));
    return success();
  }

private:
  static Value simpler(Operation *op, Value a, Value b) {
    if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp>(op))
      return isConstant(b, 0) ? a : isConstant(a, 0) ? b : sameOf(op, a, b);
    if (isa<arith::SubIOp>(op))
      return isConstant(b, 0) ? a : Value();
    if (isa<arith::MulIOp>(op) && !a.getType().isInteger(1))
      return isConstant(b, 1) || isConstant(a, 0)   ? a
             : isConstant(a, 1) || isConstant(b, 0) ? b
                                                    : Value();
    if (isa<arith::AndIOp>(op))
      return isAllOnes(b) || isConstant(a, 0)   ? a
             : isAllOnes(a) || isConstant(b, 0) ? b
                                                : sameOf(op, a, b);
    if (isa<arith::DivSIOp, arith::DivUIOp>(op) && !a.getType().isInteger(1))
      return isConstant(b, 1) ? a : Value();
    return {};
  }
  static Value sameOf(Operation *op, Value a, Value b) {
    return a == b && isa<arith::AndIOp, arith::OrIOp>(op) ? a : Value();
  }
};

/// not not x, and the negation of a comparison of integers.
struct Negations : OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::XOrIOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isInteger(1) || !isAllOnes(op.getRhs()))
      return failure();
    Operation *negated = op.getLhs().getDefiningOp();
    if (auto inner = dyn_cast_or_null<arith::XOrIOp>(negated); inner && isAllOnes(inner.getRhs())) {
      rewriter.replaceOp(op, inner.getLhs());
      return success();
    }
    auto compare = dyn_cast_or_null<arith::CmpIOp>(negated);
    if (!compare)
      return failure();
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::invertPredicate(compare.getPredicate()),
                                               compare.getLhs(), compare.getRhs());
    return success();
  }
};

/// Comparisons of a value with itself, and of a widened boolean with 0.
struct Comparisons : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpIOp op, PatternRewriter &rewriter) const override {
    using P = arith::CmpIPredicate;
    if (op.getLhs() == op.getRhs()) {
      APInt zero(1, 0);
      bool holds = arith::applyCmpPredicate(op.getPredicate(), zero, zero);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getBoolAttr(holds));
      return success();
    }
    Operation *widened = op.getLhs().getDefiningOp();
    if (!isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(widened) ||
        !widened->getOperand(0).getType().isInteger(1) || !isConstant(op.getRhs(), 0))
      return failure();
    Value bit = widened->getOperand(0);
    if (op.getPredicate() == P::ne) {
      rewriter.replaceOp(op, bit);
    } else if (op.getPredicate() == P::eq) {
      Value one = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 1);
      rewriter.replaceOpWithNewOp<arith::XOrIOp>(op, bit, one);
    } else {
      return failure();
    }
    return success();
  }
};

/// A cast that takes back a widening one, or goes on with it.
struct Casts : RewritePattern {
  explicit Casts(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<arith::TruncIOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp>(
            op))
      return failure();
    Operation *inner = op->getOperand(0).getDefiningOp();
    if (!inner || !isa<arith::ArithDialect>(inner->getDialect()) || inner->getNumOperands() != 1)
      return failure();
    Value source = inner->getOperand(0);
    Type from = source.getType(), to = op->getResult(0).getType();
    bool widens = isa<arith::ExtSIOp, arith::ExtUIOp>(inner);
    if (isa<arith::TruncFOp>(op))
      return from == to && isa<arith::ExtFOp>(inner) ? replace(op, source, rewriter) : failure();
    if (isa<arith::TruncIOp>(op)) {
      if (from == to && widens)
        return replace(op, source, rewriter);
      if (!widens || !isa<IntegerType>(from))
        return failure();
      // Widened further than wanted, or the low bits of what was there before.
      if (integerWidth(from) > integerWidth(to))
        rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, to, source);
      else if (isa<arith::ExtSIOp>(inner))
        rewriter.replaceOpWithNewOp<arith::ExtSIOp>(op, to, source);
      else
        rewriter.replaceOpWithNewOp<arith::ExtUIOp>(op, to, source);
      return success();
    }
    if (isa<arith::IndexCastOp>(op)) {
      // Through the wider of the two types nothing is lost.
      bool wider = isa<arith::IndexCastOp>(inner) &&
                   integerWidth(inner->getResult(0).getType()) >= integerWidth(from);
      return from == to && wider ? replace(op, source, rewriter) : failure();
    }
    if (op->getName() != inner->getName() || !widens)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, source); });
    return success();
  }

private:
  static LogicalResult replace(Operation *op, Value by, PatternRewriter &rewriter) {
    rewriter.replaceOp(op, by);
    return success();
  }
};

/// Choices that are none, of booleans, and by what is negated.
struct Selections : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    Value condition = op.getCondition(), yes = op.getTrueValue(), no = op.getFalseValue();
    if (yes == no || isAllOnes(condition)) {
      rewriter.replaceOp(op, yes);
      return success();
    }
    if (isConstant(condition, 0)) {
      rewriter.replaceOp(op, no);
      return success();
    }
    if (auto negated = condition.getDefiningOp<arith::XOrIOp>();
        negated && negated.getType().isInteger(1) && isAllOnes(negated.getRhs())) {
      rewriter.replaceOpWithNewOp<arith::SelectOp>(op, negated.getLhs(), no, yes);
      return success();
    }
    if (!op.getType().isInteger(1))
      return failure();
    // What `and` and `or` of booleans become on the way is one again.
    if (isAllOnes(yes) && isConstant(no, 0))
      rewriter.replaceOp(op, condition);
    else if (isConstant(yes, 0) && isAllOnes(no))
      rewriter.replaceOpWithNewOp<arith::XOrIOp>(op, condition, no);
    else if (no == condition || isConstant(no, 0))
      rewriter.replaceOpWithNewOp<arith::AndIOp>(op, condition, yes);
    else if (yes == condition || isAllOnes(yes))
      rewriter.replaceOpWithNewOp<arith::OrIOp>(op, condition, no);
    else
      return failure();
    return success();
  }
};
} // namespace

FrozenRewritePatternSet frontend::getSimplifications(MLIRContext *context) {
  static constexpr StringLiteral structure[] = {"cf", "scf"};
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (llvm::is_contained(structure, op.getDialectNamespace()))
      op.getCanonicalizationPatterns(patterns, context);
  addShiftPatterns(patterns);
  patterns.add<Casts, ChosenConstants, Comparisons, FloatArithmetic, FloatConstants,
               IntegerConstants, IntegerIdentities, Negations, Selections>(context);
  return FrozenRewritePatternSet(std::move(patterns));
}

void frontend::simplify(UdfOpInterface metric, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.enableFolding(false);
  // Merging blocks that look alike would join what the program keeps apart.
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  // Not converging is no error: the result is as good as it got.
  (void)applyPatternsGreedily(metric.getOperation(), patterns, config);
  IRRewriter rewriter(metric.getContext());
  DominanceInfo dominance(metric);
  eliminateCommonSubExpressions(rewriter, dominance, metric);
}
