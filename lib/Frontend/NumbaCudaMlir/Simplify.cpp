//===- Simplify.cpp - Canonicalization that keeps floating point -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
using namespace annudf::ir;

/// Upstream's patterns that round once where the program rounds twice: an i64 becomes
/// another f32 through f64 than directly.
static constexpr StringLiteral kRoundingPatterns[] = {"TruncFSIToFPToSIToFP",
                                                      "TruncFUIToFPToUIToFP"};

namespace {
/// What `and` and `or` of booleans become on the way is one again.
struct SelectOfBooleans : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    Value condition = op.getCondition(), yes = op.getTrueValue(), no = op.getFalseValue();
    if (!op.getType().isInteger(1))
      return failure();
    if (no == condition || matchPattern(no, m_Zero()))
      rewriter.replaceOpWithNewOp<arith::AndIOp>(op, condition, yes);
    else if (yes == condition || matchPattern(yes, m_One()))
      rewriter.replaceOpWithNewOp<arith::OrIOp>(op, condition, no);
    else
      return failure();
    return success();
  }
};
} // namespace

FrozenRewritePatternSet frontend::getSimplifications(MLIRContext *context) {
  static constexpr StringLiteral dialects[] = {"annudf", "arith", "cf", "math", "scf"};
  RewritePatternSet patterns(context);
  for (StringRef name : dialects)
    if (Dialect *dialect = context->getLoadedDialect(name))
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (llvm::is_contained(dialects, op.getDialectNamespace()))
      op.getCanonicalizationPatterns(patterns, context);
  addShiftPatterns(patterns);
  patterns.add<SelectOfBooleans>(context);
  llvm::erase_if(patterns.getNativePatterns(), [](const std::unique_ptr<RewritePattern> &pattern) {
    return llvm::any_of(kRoundingPatterns,
                        [&](StringRef name) { return pattern->getDebugName().ends_with(name); });
  });
  return FrozenRewritePatternSet(std::move(patterns));
}

void frontend::simplify(MetricOp metric, const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  // Merging blocks that look alike would join what the program keeps apart.
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  // Not converging is no error: the result is as good as it got.
  (void)applyPatternsGreedily(metric.getOperation(), patterns, config);
  IRRewriter rewriter(metric.getContext());
  DominanceInfo dominance(metric);
  eliminateCommonSubExpressions(rewriter, dominance, metric);
}
