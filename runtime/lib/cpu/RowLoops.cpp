//===- RowLoops.cpp - Loops whose lanes are rows --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;

namespace {

/// Gives a loop's terminator the properties that `keep` accepts, and `add`.
template <class Keep>
void setLoopProperties(Instruction &terminator, const MDNode &loop, Keep keep, const char *add) {
  LLVMContext &context = terminator.getContext();
  SmallVector<Metadata *> properties{nullptr}; // The first is the loop's own identity.
  for (const MDOperand &operand : drop_begin(loop.operands()))
    if (keep(operand))
      properties.push_back(operand);
  properties.push_back(MDNode::get(context, MDString::get(context, add)));
  MDNode *changed = MDNode::getDistinct(context, properties);
  changed->replaceOperandWith(0, changed);
  terminator.setMetadata(LLVMContext::MD_loop, changed);
}

bool isProperty(const Metadata *property, StringRef name) {
  const auto *node = dyn_cast_or_null<MDNode>(property);
  const auto *string =
      node && node->getNumOperands() > 0 ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
  return string && string->getString() == name;
}

bool hasProperty(const MDNode &loop, StringRef name) {
  return any_of(drop_begin(loop.operands()),
                [&](const MDOperand &operand) { return isProperty(operand, name); });
}

/// The property of a loop that the vectoriser is to take; it takes it off when it has.
constexpr StringLiteral kWanted = "llvm.loop.vectorize.enable";
constexpr StringLiteral kDone = "llvm.loop.isvectorized";

/// Whether it works on vectors; what the vectoriser leaves for a rest of rows is marked as done
/// too.
bool hasVectors(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (instruction.getType()->isVectorTy())
        return true;
  return false;
}

/// Names of the functions that a loop of vectors calls for each lane: of libm, "fmodf"; those that
/// are an instruction of LLVM's but not of the processor, "frem".
void addScalarCalls(const Loop &loop, SetVector<StringRef> &names) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      if (instruction.getOpcode() == Instruction::FRem)
        names.insert("fmod");
      const auto *call = dyn_cast<CallInst>(&instruction);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->isIntrinsic() || !call->getType()->isFloatingPointTy())
        continue;
      StringRef name = callee->getName();
      if (call->getType()->isFloatTy())
        name.consume_back("f");
      names.insert(name);
    }
}

} // namespace

/// A loop over rows must still be a loop when the vectoriser comes: a cheap metric's
/// would be unrolled before, and stay scalar.
void annudf::runtime::cpu::keepRowLoops(Module &module) {
  for (Function &function : module)
    for (BasicBlock &block : function)
      if (MDNode *loop = block.getTerminator()->getMetadata(LLVMContext::MD_loop))
        if (hasProperty(*loop, kWanted))
          setLoopProperties(
              *block.getTerminator(), *loop, [](const Metadata *) { return true; },
              "llvm.loop.unroll.disable");
}

PreservedAnalyses annudf::runtime::cpu::RemarkRowLoops::run(Function &function,
                                                            FunctionAnalysisManager &analyses) {
  SetVector<StringRef> names;
  bool isScalar = false;
  for (const Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    const MDNode *properties = loop->getLoopID();
    if (!properties)
      continue;
    isScalar |= hasProperty(*properties, kWanted);
    if (hasProperty(*properties, kDone) && hasVectors(*loop))
      addScalarCalls(*loop, names);
  }
  if (isScalar)
    remark = "a loop over rows takes them one by one, not as vectors";
  else if (!names.empty())
    remark = "computed one row at a time: " + join(names, ", ");
  return PreservedAnalyses::all();
}

PreservedAnalyses
annudf::runtime::cpu::UnrollVectorLoops::run(Function &function,
                                             FunctionAnalysisManager & /*analyses*/) {
  for (BasicBlock &block : function)
    if (MDNode *loop = block.getTerminator()->getMetadata(LLVMContext::MD_loop))
      if (hasProperty(*loop, kDone))
        setLoopProperties(
            *block.getTerminator(), *loop,
            [](const Metadata *p) { return !isProperty(p, "llvm.loop.unroll.disable"); },
            "llvm.loop.unroll.full");
  return PreservedAnalyses::none();
}
