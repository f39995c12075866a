//===- HookArithmetic.cpp - Arithmetic that the processor decides ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookArithmetic.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

namespace {

/// Products that the compiler fused (FuseProducts.cpp) are one operation where the processor has
/// it, else two. Left open, optimisation would decide for each: of a product of constants, as an
/// unrolled loop has, InstCombine makes two roundings, and code generation of any other one.
void settleFusion(Module &hooks, TargetMachine &target) {
  const Triple &triple = target.getTargetTriple();
  const bool isOne = triple.isAArch64() || (triple.getArch() == Triple::x86_64 &&
                                            target.getMCSubtargetInfo()->checkFeatures("+fma"));
  for (Function &function : hooks)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::fmuladd)
        continue;
      IRBuilder<> builder(call);
      builder.setFastMathFlags(call->getFastMathFlags());
      Value *const a = call->getArgOperand(0), *const b = call->getArgOperand(1);
      Value *const c = call->getArgOperand(2);
      call->replaceAllUsesWith(
          isOne ? builder.CreateIntrinsic(Intrinsic::fma, {call->getType()}, {a, b, c})
                : builder.CreateFAdd(builder.CreateFMul(a, b), c));
      call->eraseFromParent();
    }
}

/// Saturating conversions, of which LLVM makes poor vectors: the plain one of what is in range, and
/// the ends, or 0 for NaN, of the rest.
void settleConversions(Module &hooks) {
  for (Function &function : hooks)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      const bool isSigned = call && call->getIntrinsicID() == Intrinsic::fptosi_sat;
      if (!isSigned && !(call && call->getIntrinsicID() == Intrinsic::fptoui_sat))
        continue;
      IRBuilder<> builder(call);
      Value *const x = call->getArgOperand(0);
      Type *const from = x->getType(), *const to = call->getType();
      const unsigned width = to->getIntegerBitWidth();
      const APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt(width, 0);
      const APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
      const auto limit = [&](const APInt &bound) {
        APFloat number(from->getFltSemantics());
        number.convertFromAPInt(bound, isSigned, APFloat::rmTowardZero);
        return ConstantFP::get(from, number);
      };
      Value *const isAbove = builder.CreateFCmpOGT(x, limit(most));
      Value *const isBelow = builder.CreateFCmpOLT(x, limit(least));
      Value *const isInside = builder.CreateAnd(builder.CreateFCmpOLE(x, limit(most)),
                                                builder.CreateFCmpOGE(x, limit(least)));
      Value *const inside = builder.CreateSelect(isInside, x, ConstantFP::getZero(from));
      Value *result =
          isSigned ? builder.CreateFPToSI(inside, to) : builder.CreateFPToUI(inside, to);
      result = builder.CreateSelect(isAbove, builder.getInt(most), result);
      call->replaceAllUsesWith(builder.CreateSelect(isBelow, builder.getInt(least), result));
      call->eraseFromParent();
    }
}

/// The larger one of a number and an absolute value, as distances such as Chebyshev's keep. LLVM
/// also orders zeros there, which it need not: an absolute value is never -0, and comes second.
void settleMaxima(Module &hooks, TargetMachine &target) {
  if (target.getTargetTriple().getArch() != Triple::x86_64)
    return; // AArch64 has an instruction for it.
  const auto isAbsolute = [](Value *value) {
    auto *call = dyn_cast<IntrinsicInst>(value);
    return call && call->getIntrinsicID() == Intrinsic::fabs;
  };
  for (Function &function : hooks)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::maximum)
        continue;
      Value *a = call->getArgOperand(0), *b = call->getArgOperand(1);
      if (!isAbsolute(b))
        std::swap(a, b);
      if (!isAbsolute(b))
        continue;
      IRBuilder<> builder(call);
      Value *const larger = builder.CreateSelect(builder.CreateFCmpOGT(a, b), a, b);
      call->replaceAllUsesWith(builder.CreateSelect(builder.CreateFCmpUNO(a, a), a, larger));
      call->eraseFromParent();
    }
}

} // namespace

void annudf::runtime::cpu::settleArithmetic(Module &hooks, TargetMachine &target) {
  settleFusion(hooks, target);
  settleConversions(hooks);
  settleMaxima(hooks, target);
}
