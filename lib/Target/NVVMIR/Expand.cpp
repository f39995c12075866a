//===- Expand.cpp - What LLVM 7 lacks or folds wrongly --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/NVVMIR.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {

Value *expandIntegerChoice(IRBuilder<> &builder, CallInst *call, CmpInst::Predicate predicate) {
  Value *left = call->getArgOperand(0), *right = call->getArgOperand(1);
  return builder.CreateSelect(builder.CreateICmp(predicate, left, right), left, right);
}

Value *expandAbs(IRBuilder<> &builder, CallInst *call) {
  Value *value = call->getArgOperand(0);
  Value *zero = ConstantInt::get(value->getType(), 0);
  Value *isNegative = builder.CreateICmpSLT(value, zero);
  return builder.CreateSelect(isNegative, builder.CreateSub(zero, value), value);
}

/// minnum or maxnum; on half by way of float, which changes no value.
Value *choose(IRBuilder<> &builder, Intrinsic::ID id, Value *left, Value *right) {
  Type *type = left->getType();
  if (!type->isHalfTy())
    return builder.CreateBinaryIntrinsic(id, left, right);
  Type *wide = builder.getFloatTy();
  Value *result = builder.CreateBinaryIntrinsic(id, builder.CreateFPExt(left, wide),
                                                builder.CreateFPExt(right, wide));
  return builder.CreateFPTrunc(result, type);
}

/// PTX's min and max order -0 below +0, as minimum and maximum ask, but drop a NaN.
Value *expandNanChoice(IRBuilder<> &builder, CallInst *call, Intrinsic::ID id) {
  Value *left = call->getArgOperand(0), *right = call->getArgOperand(1);
  Value *isNan = builder.CreateFCmpUNO(left, right);
  return builder.CreateSelect(isNan, ConstantFP::getNaN(left->getType()),
                              choose(builder, id, left, right));
}

/// The limits are compared as floats: one that is not representable is rounded
/// towards zero for "may be converted", and what lies beyond saturates.
Value *expandToInteger(IRBuilder<> &builder, CallInst *call, bool isSigned) {
  Value *value = call->getArgOperand(0);
  if (value->getType()->isHalfTy()) // Whose range is smaller than most integers'.
    value = builder.CreateFPExt(value, builder.getFloatTy());
  Type *from = value->getType(), *to = call->getType();
  unsigned width = to->getIntegerBitWidth();
  APInt low = isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  APInt high = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  auto limit = [&](const APInt &bound) {
    APFloat result(from->getFltSemantics());
    result.convertFromAPInt(bound, isSigned, APFloat::rmTowardZero);
    return ConstantFP::get(from, result);
  };
  Value *floatLow = limit(low), *floatHigh = limit(high);
  Value *above = builder.CreateFCmpOGT(value, floatHigh);
  Value *below = builder.CreateFCmpOLT(value, floatLow);
  Value *inside = builder.CreateAnd(builder.CreateFCmpOLE(value, floatHigh),
                                    builder.CreateFCmpOGE(value, floatLow));
  // NaN is nowhere inside, so it becomes 0 here.
  Value *safe = builder.CreateSelect(inside, value, ConstantFP::getZero(from));
  Value *result = isSigned ? builder.CreateFPToSI(safe, to) : builder.CreateFPToUI(safe, to);
  result = builder.CreateSelect(above, ConstantInt::get(to, high), result);
  return builder.CreateSelect(below, ConstantInt::get(to, low), result);
}

/// Null if `call` is to stay.
Value *expand(CallInst *call, Intrinsic::ID id) {
  IRBuilder<> builder(call);
  switch (id) {
  case Intrinsic::smax:
    return expandIntegerChoice(builder, call, CmpInst::ICMP_SGT);
  case Intrinsic::smin:
    return expandIntegerChoice(builder, call, CmpInst::ICMP_SLT);
  case Intrinsic::umax:
    return expandIntegerChoice(builder, call, CmpInst::ICMP_UGT);
  case Intrinsic::umin:
    return expandIntegerChoice(builder, call, CmpInst::ICMP_ULT);
  case Intrinsic::abs:
    return expandAbs(builder, call);
  case Intrinsic::maximum:
    return expandNanChoice(builder, call, Intrinsic::maxnum);
  case Intrinsic::minimum:
    return expandNanChoice(builder, call, Intrinsic::minnum);
  case Intrinsic::maxnum:
  case Intrinsic::minnum:
    if (!call->getType()->isHalfTy())
      return nullptr;
    return choose(builder, id, call->getArgOperand(0), call->getArgOperand(1));
  case Intrinsic::fptosi_sat:
    return expandToInteger(builder, call, /*isSigned=*/true);
  case Intrinsic::fptoui_sat:
    return expandToInteger(builder, call, /*isSigned=*/false);
  default:
    return nullptr;
  }
}

/// Whether a value is NaN, or is none, asked of its magnitude: of constants that make a NaN (0 / 0)
/// libNVVM below sm_100 holds that they equal themselves. A magnitude costs nothing on a GPU.
void replaceSelfComparison(FCmpInst *compare) {
  constexpr unsigned kEqual = CmpInst::FCMP_OEQ, kUnordered = CmpInst::FCMP_UNO;
  const unsigned asked = compare->getPredicate() & (kEqual | kUnordered);
  if (compare->getOperand(0) != compare->getOperand(1) || compare->hasNoNaNs() ||
      (asked != kEqual && asked != kUnordered))
    return;
  IRBuilder<> builder(compare);
  Value *value = compare->getOperand(0);
  if (value->getType()->isHalfTy())
    value = builder.CreateFPExt(value, builder.getFloatTy());
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  compare->replaceAllUsesWith(
      builder.CreateFCmp(asked == kUnordered ? CmpInst::FCMP_UGT : CmpInst::FCMP_OLE, magnitude,
                         ConstantFP::getInfinity(value->getType())));
  compare->eraseFromParent();
}

} // namespace

void annudf::expandIntrinsics(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (auto *compare = dyn_cast<FCmpInst>(&instruction))
        replaceSelfComparison(compare);
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call)
        continue;
      Value *replacement = expand(call, call->getIntrinsicID());
      if (!replacement)
        continue;
      call->replaceAllUsesWith(replacement);
      call->eraseFromParent();
    }
  }
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
}
