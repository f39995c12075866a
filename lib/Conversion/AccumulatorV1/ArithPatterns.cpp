//===- ArithPatterns.cpp - arith and calls as LLVM's instructions ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pattern for each op that a body may hold, and for nothing else. They are annudf's
// own: a pattern or fold of upstream that changes what a user wrote would do so after the
// verifier has seen it. Only the flags of floating point that LLVM reads as annudf does
// are kept; no other attribute crosses.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::lowering;

namespace {

/// An op with the same operands and one result.
template <typename SourceOp, typename TargetOp>
struct SameOperands : ConvertOpToLLVMPattern<SourceOp> {
  using ConvertOpToLLVMPattern<SourceOp>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getResult().getType());
    rewriter.replaceOpWithNewOp<TargetOp>(op, type, adaptor.getOperands());
    return success();
  }
};

/// Arithmetic in floating point, with its flags.
template <typename SourceOp, typename TargetOp>
struct FloatArithmetic : ConvertOpToLLVMPattern<SourceOp> {
  using ConvertOpToLLVMPattern<SourceOp>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto result = TargetOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperands());
    result.setFastmathFlags(arith::convertArithFastMathFlagsToLLVM(op.getFastmath()));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct Constant : ConvertOpToLLVMPattern<arith::ConstantOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    TypedAttr value = op.getValue();
    if (auto integer = dyn_cast<IntegerAttr>(value))
      value = IntegerAttr::get(type, integer.getValue());
    else if (!isa<FloatAttr>(value))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, type, value);
    return success();
  }
};

/// Casts of index, which has 64 bits: to a narrower type the low bits, to a wider one
/// `Extend`.
template <typename SourceOp, typename ExtendOp>
struct IndexCast : ConvertOpToLLVMPattern<SourceOp> {
  using ConvertOpToLLVMPattern<SourceOp>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type to = this->getTypeConverter()->convertType(op.getType());
    unsigned from = adaptor.getIn().getType().getIntOrFloatBitWidth();
    unsigned width = to.getIntOrFloatBitWidth();
    if (width == from)
      rewriter.replaceOp(op, adaptor.getIn());
    else if (width < from)
      rewriter.replaceOpWithNewOp<LLVM::TruncOp>(op, to, adaptor.getIn());
    else
      rewriter.replaceOpWithNewOp<ExtendOp>(op, to, adaptor.getIn());
    return success();
  }
};

LLVM::ICmpPredicate convert(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return LLVM::ICmpPredicate::eq;
  case arith::CmpIPredicate::ne:
    return LLVM::ICmpPredicate::ne;
  case arith::CmpIPredicate::slt:
    return LLVM::ICmpPredicate::slt;
  case arith::CmpIPredicate::sle:
    return LLVM::ICmpPredicate::sle;
  case arith::CmpIPredicate::sgt:
    return LLVM::ICmpPredicate::sgt;
  case arith::CmpIPredicate::sge:
    return LLVM::ICmpPredicate::sge;
  case arith::CmpIPredicate::ult:
    return LLVM::ICmpPredicate::ult;
  case arith::CmpIPredicate::ule:
    return LLVM::ICmpPredicate::ule;
  case arith::CmpIPredicate::ugt:
    return LLVM::ICmpPredicate::ugt;
  case arith::CmpIPredicate::uge:
    return LLVM::ICmpPredicate::uge;
  }
  llvm_unreachable("unknown comparison of integers");
}

LLVM::FCmpPredicate convert(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return LLVM::FCmpPredicate::_false;
  case arith::CmpFPredicate::OEQ:
    return LLVM::FCmpPredicate::oeq;
  case arith::CmpFPredicate::OGT:
    return LLVM::FCmpPredicate::ogt;
  case arith::CmpFPredicate::OGE:
    return LLVM::FCmpPredicate::oge;
  case arith::CmpFPredicate::OLT:
    return LLVM::FCmpPredicate::olt;
  case arith::CmpFPredicate::OLE:
    return LLVM::FCmpPredicate::ole;
  case arith::CmpFPredicate::ONE:
    return LLVM::FCmpPredicate::one;
  case arith::CmpFPredicate::ORD:
    return LLVM::FCmpPredicate::ord;
  case arith::CmpFPredicate::UEQ:
    return LLVM::FCmpPredicate::ueq;
  case arith::CmpFPredicate::UGT:
    return LLVM::FCmpPredicate::ugt;
  case arith::CmpFPredicate::UGE:
    return LLVM::FCmpPredicate::uge;
  case arith::CmpFPredicate::ULT:
    return LLVM::FCmpPredicate::ult;
  case arith::CmpFPredicate::ULE:
    return LLVM::FCmpPredicate::ule;
  case arith::CmpFPredicate::UNE:
    return LLVM::FCmpPredicate::une;
  case arith::CmpFPredicate::UNO:
    return LLVM::FCmpPredicate::uno;
  case arith::CmpFPredicate::AlwaysTrue:
    return LLVM::FCmpPredicate::_true;
  }
  llvm_unreachable("unknown comparison of floating point");
}

template <typename SourceOp, typename TargetOp> struct Compare : ConvertOpToLLVMPattern<SourceOp> {
  using ConvertOpToLLVMPattern<SourceOp>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<TargetOp>(op, convert(op.getPredicate()), adaptor.getLhs(),
                                          adaptor.getRhs());
    return success();
  }
};

struct Call : ConvertOpToLLVMPattern<func::CallOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(func::CallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(op, types, op.getCalleeAttr(), adaptor.getOperands());
    return success();
  }
};

struct Return : ConvertOpToLLVMPattern<func::ReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(func::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

void annudf::lowering::populateArithPatterns(LLVMTypeConverter &converter,
                                             RewritePatternSet &patterns) {
  patterns.add<
      // Floating point.
      FloatArithmetic<arith::AddFOp, LLVM::FAddOp>, FloatArithmetic<arith::SubFOp, LLVM::FSubOp>,
      FloatArithmetic<arith::MulFOp, LLVM::FMulOp>, FloatArithmetic<arith::DivFOp, LLVM::FDivOp>,
      FloatArithmetic<arith::NegFOp, LLVM::FNegOp>,
      SameOperands<arith::MaximumFOp, LLVM::MaximumOp>,
      SameOperands<arith::MinimumFOp, LLVM::MinimumOp>,
      SameOperands<arith::MaxNumFOp, LLVM::MaxNumOp>,
      SameOperands<arith::MinNumFOp, LLVM::MinNumOp>, Compare<arith::CmpFOp, LLVM::FCmpOp>,
      // Integers.
      SameOperands<arith::AddIOp, LLVM::AddOp>, SameOperands<arith::SubIOp, LLVM::SubOp>,
      SameOperands<arith::MulIOp, LLVM::MulOp>, SameOperands<arith::DivSIOp, LLVM::SDivOp>,
      SameOperands<arith::DivUIOp, LLVM::UDivOp>, SameOperands<arith::RemSIOp, LLVM::SRemOp>,
      SameOperands<arith::RemUIOp, LLVM::URemOp>, SameOperands<arith::AndIOp, LLVM::AndOp>,
      SameOperands<arith::OrIOp, LLVM::OrOp>, SameOperands<arith::XOrIOp, LLVM::XOrOp>,
      SameOperands<arith::ShLIOp, LLVM::ShlOp>, SameOperands<arith::ShRSIOp, LLVM::AShrOp>,
      SameOperands<arith::ShRUIOp, LLVM::LShrOp>, SameOperands<arith::MaxSIOp, LLVM::SMaxOp>,
      SameOperands<arith::MaxUIOp, LLVM::UMaxOp>, SameOperands<arith::MinSIOp, LLVM::SMinOp>,
      SameOperands<arith::MinUIOp, LLVM::UMinOp>, Compare<arith::CmpIOp, LLVM::ICmpOp>,
      // Conversions; from floating point to integers in MathPatterns.cpp.
      SameOperands<arith::BitcastOp, LLVM::BitcastOp>, SameOperands<arith::ExtFOp, LLVM::FPExtOp>,
      SameOperands<arith::TruncFOp, LLVM::FPTruncOp>, SameOperands<arith::ExtSIOp, LLVM::SExtOp>,
      SameOperands<arith::ExtUIOp, LLVM::ZExtOp>, SameOperands<arith::TruncIOp, LLVM::TruncOp>,
      SameOperands<arith::SIToFPOp, LLVM::SIToFPOp>, SameOperands<arith::UIToFPOp, LLVM::UIToFPOp>,
      IndexCast<arith::IndexCastOp, LLVM::SExtOp>, IndexCast<arith::IndexCastUIOp, LLVM::ZExtOp>,
      // The rest.
      Constant, SameOperands<arith::SelectOp, LLVM::SelectOp>, Call, Return>(converter);
}
