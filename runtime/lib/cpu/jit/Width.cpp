//===- Width.cpp - How wide the vectors of a scan are ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Width.h"
#include "VectorMath.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;

unsigned annudf::runtime::cpu::usualBits(TargetMachine &target) {
  LLVMContext context;
  Module module("probe", context);
  module.setTargetTriple(target.getTargetTriple());
  module.setDataLayout(target.createDataLayout());
  Function *function = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                        Function::ExternalLinkage, "probe", module);
  function->addFnAttr("target-cpu", target.getTargetCPU());
  function->addFnAttr("target-features", target.getTargetFeatureString());
  return target.getTargetTransformInfo(*function)
      .getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
      .getFixedValue();
}

unsigned annudf::runtime::cpu::vectorBits(TargetMachine &target) {
  const unsigned usual = usualBits(target);
  // FP16 came with Sapphire Rapids, whose cores have two units of 512 bits and keep their
  // frequency; measured there (docs/results/reasons.md, "Vectors of 512 bits"). Older ones stay as
  // they are.
  const bool isWide = target.getTargetTriple().getArch() == Triple::x86_64 &&
                      target.getMCSubtargetInfo()->checkFeatures("+avx512fp16,+avx512vl");
  return isWide ? std::max(usual, 512u) : usual;
}

bool annudf::runtime::cpu::isSameAtAnyWidth(const Module &hooks) {
  for (const Function &function : hooks) {
    if (isVectorMath(function.getName()))
      return false;
    for (const Instruction &instruction : instructions(function))
      if (const auto *op = dyn_cast<FPMathOperator>(&instruction))
        if (op->hasAllowReciprocal() || op->hasApproxFunc() || op->hasAllowReassoc())
          return false;
  }
  return true;
}

void annudf::runtime::cpu::setVectorBits(Module &module, unsigned bits) {
  for (Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("prefer-vector-width", utostr(bits));
}
