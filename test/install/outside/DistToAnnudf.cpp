// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From dist to annudf.
#include "Dist.h"

#include <annudf/Dialect/IR/Builder.h>

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Transforms/DialectConversion.h>

using namespace mlir;
using namespace annudf::ir;

// --8<-- [start:metric]
struct LowerWeightedSum : OpConversionPattern<dist::WeightedSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(dist::WeightedSumOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Type f32 = rewriter.getF32Type();
    const auto power = static_cast<double>(op.getPower());
    MetricOptions options;
    options.order = op.getOrder();
    options.elements = {Element::F32, Element::F16, Element::I8, Element::U8};

    MetricBuilder metric(rewriter, op.getLoc(), op.getSymName(), options);
    Value weights = metric.capture(op.getWeights(), {CaptureType::kDim}, f32);
    metric.init([&](HookBuilder &b) { return b.number(f32, 0); });
    metric.update([&](HookBuilder &b, ValueRange acc, Value x, Value y) {
      Value apart = math::AbsFOp::create(b, arith::SubFOp::create(b, x, y));
      if (power != 1)
        apart = math::PowFOp::create(b, apart, b.number(f32, power));
      return math::FmaOp::create(b, b.load(weights, b.dim()), apart, acc[0]);
    });
    if (op.getRoot())
      metric.finalize([&](HookBuilder &b, ValueRange acc) {
        return math::PowFOp::create(b, acc[0], b.number(f32, 1 / power));
      });
    if (failed(metric.finish()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
// --8<-- [end:metric]

// --8<-- [start:filter]
struct LowerAtMost : OpConversionPattern<dist::AtMostOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(dist::AtMostOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FilterBuilder filter(rewriter, op.getLoc(), op.getSymName());
    Value array = filter.capture(op.getArray(), {CaptureType::kRow}, rewriter.getF32Type());
    filter.keep([&](HookBuilder &b) {
      Value limit = b.number(b.getF32Type(), op.getLimit().convertToDouble());
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, b.load(array, b.row()), limit);
    });
    if (failed(filter.finish()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
// --8<-- [end:filter]

// --8<-- [start:function]
struct LowerSimilarity : OpConversionPattern<dist::SimilarityOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(dist::SimilarityOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Type f32 = rewriter.getF32Type();
    FunctionBuilder function(rewriter, op.getLoc(), op.getSymName(),
                             rewriter.getFunctionType(f32, f32), Convention::C);
    function.body([&](HookBuilder &b, ValueRange distance) {
      Value one = b.number(f32, 1), scale = b.number(f32, op.getScale().convertToDouble());
      return arith::DivFOp::create(b, one, math::FmaOp::create(b, scale, distance[0], one));
    });
    if (failed(function.finish()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
// --8<-- [end:function]

// --8<-- [start:pass]
struct DistToAnnudf : PassWrapper<DistToAnnudf, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DistToAnnudf)
  StringRef getArgument() const override { return "convert-dist-to-annudf"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<AnnudfDialect>(); // Which brings the dialects of bodies.
  }

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalOp<dist::WeightedSumOp, dist::AtMostOp, dist::SimilarityOp>();
    target.addLegalDialect<AnnudfDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                           scf::SCFDialect>();
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerWeightedSum, LowerAtMost, LowerSimilarity>(&getContext());
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

void dist::registerDistToAnnudfPass() { PassRegistration<DistToAnnudf>(); }
// --8<-- [end:pass]
