//===- MathPatterns.cpp - math as intrinsics, libm or libdevice -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::lowering;

namespace {

/// How one function is reached. `intrinsic` is LLVM's, without type suffix; where it
/// is null, `library` is called, whose f32 form ends with `f`.
struct Callee {
  const char *intrinsic, *library;
};

/// A float function of one to three operands of one type.
template <typename SourceOp> class FunctionPattern : public ConvertOpToLLVMPattern<SourceOp> {
public:
  FunctionPattern(const LLVMTypeConverter &converter, Callee callee)
      : ConvertOpToLLVMPattern<SourceOp>(converter, /*benefit=*/2), callee(callee) {}

  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, call(op, adaptor.getOperands(), callee, rewriter));
    return success();
  }

  /// f16 has no functions of its own: it goes through f32.
  static Value call(Operation *op, ValueRange operands, Callee callee,
                    ConversionPatternRewriter &rewriter) {
    Location loc = op->getLoc();
    Type type = operands.front().getType();
    bool isHalf = type.isF16();
    Type compute = isHalf ? Type(rewriter.getF32Type()) : type;
    SmallVector<Value> values(operands);
    if (isHalf)
      for (Value &value : values)
        value = LLVM::FPExtOp::create(rewriter, loc, compute, value);
    Value result;
    if (callee.intrinsic) {
      result = LLVM::CallIntrinsicOp::create(rewriter, loc, compute,
                                             rewriter.getStringAttr(callee.intrinsic), values)
                   .getResult(0);
    } else {
      std::string name = callee.library;
      if (compute.isF32())
        name += 'f';
      result = LLVM::CallOp::create(rewriter, loc,
                                    declare(op, name, compute, values.size(), rewriter), values)
                   .getResult();
    }
    return isHalf ? LLVM::FPTruncOp::create(rewriter, loc, type, result) : result;
  }

private:
  static LLVM::LLVMFuncOp declare(Operation *op, StringRef name, Type type, size_t operands,
                                  ConversionPatternRewriter &rewriter) {
    auto module = op->getParentOfType<ModuleOp>();
    if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return existing;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    auto signature = LLVM::LLVMFunctionType::get(type, SmallVector<Type>(operands, type));
    return LLVM::LLVMFuncOp::create(rewriter, module.getLoc(), name, signature);
  }

  Callee callee;
};

/// A pattern made of one function.
template <typename SourceOp> class ExpandPattern : public ConvertOpToLLVMPattern<SourceOp> {
public:
  using Expansion = LogicalResult (*)(SourceOp, typename SourceOp::Adaptor,
                                      ConversionPatternRewriter &);
  ExpandPattern(const LLVMTypeConverter &converter, Expansion expansion)
      : ConvertOpToLLVMPattern<SourceOp>(converter, /*benefit=*/2), expansion(expansion) {}
  LogicalResult matchAndRewrite(SourceOp op, typename SourceOp::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return expansion(op, adaptor, rewriter);
  }

private:
  Expansion expansion;
};

Value floatConstant(ConversionPatternRewriter &rewriter, Location loc, Type type,
                    const llvm::APFloat &value) {
  return LLVM::ConstantOp::create(rewriter, loc, type, rewriter.getFloatAttr(type, value));
}

/// Out-of-range values saturate and NaN becomes 0, where arith leaves them open.
template <typename SourceOp>
LogicalResult expandToInteger(SourceOp op, typename SourceOp::Adaptor adaptor,
                              ConversionPatternRewriter &rewriter, StringRef intrinsic) {
  rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
      op, op.getType(), rewriter.getStringAttr(intrinsic), adaptor.getIn());
  return success();
}

LogicalResult expandRsqrt(math::RsqrtOp op, math::RsqrtOp::Adaptor adaptor,
                          ConversionPatternRewriter &rewriter) {
  Type type = op.getType();
  Value one = floatConstant(rewriter, op.getLoc(), type,
                            llvm::APFloat::getOne(cast<FloatType>(type).getFloatSemantics()));
  Value root = LLVM::SqrtOp::create(rewriter, op.getLoc(), adaptor.getOperand());
  rewriter.replaceOpWithNewOp<LLVM::FDivOp>(op, one, root);
  return success();
}

/// The tests on the kind of a number, by comparisons with its magnitude.
enum class FloatTest { Nan, Infinite, Finite };
template <typename SourceOp, FloatTest test>
LogicalResult expandTest(SourceOp op, typename SourceOp::Adaptor adaptor,
                         ConversionPatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value value = adaptor.getOperand();
  Type type = value.getType();
  auto compare = [&](LLVM::FCmpPredicate predicate, Value left, Value right) -> Value {
    return LLVM::FCmpOp::create(rewriter, loc, predicate, left, right);
  };
  if (test == FloatTest::Nan) {
    rewriter.replaceOp(op, compare(LLVM::FCmpPredicate::uno, value, value));
    return success();
  }
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  Value magnitude = FunctionPattern<SourceOp>::call(op, value, {"llvm.fabs", nullptr}, rewriter);
  Value infinity = floatConstant(rewriter, loc, type, llvm::APFloat::getInf(semantics));
  if (test == FloatTest::Infinite) {
    rewriter.replaceOp(op, compare(LLVM::FCmpPredicate::oeq, magnitude, infinity));
    return success();
  }
  rewriter.replaceOp(op, compare(LLVM::FCmpPredicate::olt, magnitude, infinity));
  return success();
}

template <typename SourceOp, typename CountOp>
LogicalResult expandCountZeros(SourceOp op, typename SourceOp::Adaptor adaptor,
                               ConversionPatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<CountOp>(op, adaptor.getOperand().getType(), adaptor.getOperand(),
                                       /*is_zero_poison=*/false);
  return success();
}

} // namespace

void annudf::lowering::populateMathPatterns(LLVMTypeConverter &converter,
                                            RewritePatternSet &patterns, const TargetInfo &target) {
  bool nvvm = target.kind == TargetKind::Nvvm;
  auto add = [&]<typename Op>(Callee host, Callee device) {
    patterns.add<FunctionPattern<Op>>(converter, nvvm ? device : host);
  };
  // Both targets have these; the NVVM IR emitter renames where libNVVM needs it.
  auto addIntrinsic = [&]<typename Op>(const char *name) {
    patterns.add<FunctionPattern<Op>>(converter, Callee{name, nullptr});
  };
  addIntrinsic.template operator()<math::AbsFOp>("llvm.fabs");
  addIntrinsic.template operator()<math::CeilOp>("llvm.ceil");
  addIntrinsic.template operator()<math::CopySignOp>("llvm.copysign");
  addIntrinsic.template operator()<math::FloorOp>("llvm.floor");
  addIntrinsic.template operator()<math::FmaOp>("llvm.fma");
  addIntrinsic.template operator()<math::SqrtOp>("llvm.sqrt");

  add.template operator()<math::AcosOp>({"llvm.acos", nullptr}, {nullptr, "__nv_acos"});
  add.template operator()<math::AcoshOp>({nullptr, "acosh"}, {nullptr, "__nv_acosh"});
  add.template operator()<math::AsinOp>({"llvm.asin", nullptr}, {nullptr, "__nv_asin"});
  add.template operator()<math::AsinhOp>({nullptr, "asinh"}, {nullptr, "__nv_asinh"});
  add.template operator()<math::AtanOp>({"llvm.atan", nullptr}, {nullptr, "__nv_atan"});
  add.template operator()<math::Atan2Op>({"llvm.atan2", nullptr}, {nullptr, "__nv_atan2"});
  add.template operator()<math::AtanhOp>({nullptr, "atanh"}, {nullptr, "__nv_atanh"});
  add.template operator()<math::CbrtOp>({nullptr, "cbrt"}, {nullptr, "__nv_cbrt"});
  add.template operator()<math::CosOp>({"llvm.cos", nullptr}, {nullptr, "__nv_cos"});
  add.template operator()<math::CoshOp>({"llvm.cosh", nullptr}, {nullptr, "__nv_cosh"});
  add.template operator()<math::ErfOp>({nullptr, "erf"}, {nullptr, "__nv_erf"});
  add.template operator()<math::ErfcOp>({nullptr, "erfc"}, {nullptr, "__nv_erfc"});
  add.template operator()<math::ExpOp>({"llvm.exp", nullptr}, {nullptr, "__nv_exp"});
  add.template operator()<math::Exp2Op>({"llvm.exp2", nullptr}, {nullptr, "__nv_exp2"});
  add.template operator()<math::ExpM1Op>({nullptr, "expm1"}, {nullptr, "__nv_expm1"});
  add.template operator()<math::LogOp>({"llvm.log", nullptr}, {nullptr, "__nv_log"});
  add.template operator()<math::Log10Op>({"llvm.log10", nullptr}, {nullptr, "__nv_log10"});
  add.template operator()<math::Log1pOp>({nullptr, "log1p"}, {nullptr, "__nv_log1p"});
  add.template operator()<math::Log2Op>({"llvm.log2", nullptr}, {nullptr, "__nv_log2"});
  add.template operator()<math::PowFOp>({"llvm.pow", nullptr}, {nullptr, "__nv_pow"});
  add.template operator()<math::RoundOp>({"llvm.round", nullptr}, {nullptr, "__nv_round"});
  add.template operator()<math::RoundEvenOp>({"llvm.roundeven", nullptr}, {nullptr, "__nv_rint"});
  add.template operator()<math::SinOp>({"llvm.sin", nullptr}, {nullptr, "__nv_sin"});
  add.template operator()<math::SinhOp>({"llvm.sinh", nullptr}, {nullptr, "__nv_sinh"});
  add.template operator()<math::TanOp>({"llvm.tan", nullptr}, {nullptr, "__nv_tan"});
  add.template operator()<math::TanhOp>({"llvm.tanh", nullptr}, {nullptr, "__nv_tanh"});
  add.template operator()<math::TruncOp>({"llvm.trunc", nullptr}, {nullptr, "__nv_trunc"});
  // frem would become x - y * trunc(x / y) on a GPU, which is wrong for large quotients.
  add.template operator()<arith::RemFOp>({nullptr, "fmod"}, {nullptr, "__nv_fmod"});

  auto expand = [&]<typename Op>(typename ExpandPattern<Op>::Expansion expansion) {
    patterns.add<ExpandPattern<Op>>(converter, expansion);
  };
  expand.template operator()<math::RsqrtOp>(expandRsqrt);
  expand.template operator()<math::IsNaNOp>(expandTest<math::IsNaNOp, FloatTest::Nan>);
  expand.template operator()<math::IsInfOp>(expandTest<math::IsInfOp, FloatTest::Infinite>);
  expand.template operator()<math::IsFiniteOp>(expandTest<math::IsFiniteOp, FloatTest::Finite>);
  expand.template operator()<math::AbsIOp>(
      [](math::AbsIOp op, math::AbsIOp::Adaptor adaptor, ConversionPatternRewriter &rewriter) {
        rewriter.replaceOpWithNewOp<LLVM::AbsOp>(op, adaptor.getOperand().getType(),
                                                 adaptor.getOperand(),
                                                 /*is_int_min_poison=*/false);
        return success();
      });
  expand.template operator()<math::CtPopOp>(
      [](math::CtPopOp op, math::CtPopOp::Adaptor adaptor, ConversionPatternRewriter &rewriter) {
        rewriter.replaceOpWithNewOp<LLVM::CtPopOp>(op, adaptor.getOperand().getType(),
                                                   adaptor.getOperand());
        return success();
      });
  expand.template operator()<math::CountLeadingZerosOp>(
      expandCountZeros<math::CountLeadingZerosOp, LLVM::CountLeadingZerosOp>);
  expand.template operator()<math::CountTrailingZerosOp>(
      expandCountZeros<math::CountTrailingZerosOp, LLVM::CountTrailingZerosOp>);
  expand.template operator()<arith::FPToSIOp>([](arith::FPToSIOp op,
                                                 arith::FPToSIOp::Adaptor adaptor,
                                                 ConversionPatternRewriter &rewriter) {
    return expandToInteger(op, adaptor, rewriter, "llvm.fptosi.sat");
  });
  expand.template operator()<arith::FPToUIOp>([](arith::FPToUIOp op,
                                                 arith::FPToUIOp::Adaptor adaptor,
                                                 ConversionPatternRewriter &rewriter) {
    return expandToInteger(op, adaptor, rewriter, "llvm.fptoui.sat");
  });
}
