//===- RowLoops.cpp - Loops whose lanes are rows --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"
#include "VectorMath.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

/// Gives a loop's terminator the properties that `keep` accepts, and `add`.
template <class Keep>
void setLoopProperties(Instruction &terminator, const MDNode &loop, Keep keep,
                       ArrayRef<Metadata *> add) {
  LLVMContext &context = terminator.getContext();
  SmallVector<Metadata *> properties{nullptr}; // The first is the loop's own identity.
  for (const MDOperand &operand : drop_begin(loop.operands()))
    if (keep(operand))
      properties.push_back(operand);
  properties.push_back(MDNode::get(context, add));
  MDNode *changed = MDNode::getDistinct(context, properties);
  changed->replaceOperandWith(0, changed);
  terminator.setMetadata(LLVMContext::MD_loop, changed);
}

template <class Keep>
void setLoopProperties(Instruction &terminator, const MDNode &loop, Keep keep, const char *add) {
  setLoopProperties(terminator, loop, keep, {MDString::get(terminator.getContext(), add)});
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

bool isRowLoop(const Loop &loop) {
  const MDNode *properties = loop.getLoopID();
  return properties && hasProperty(*properties, kWanted);
}

/// Whether some iterations more would find the same value; captures do not change.
bool isSameIn(const Loop *loop, const Value *value, int depth = 0) {
  constexpr int kMostSteps = 8;
  if (!loop || loop->isLoopInvariant(value))
    return true;
  const auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || isa<PHINode>(instruction) || depth == kMostSteps)
    return false;
  if (instruction->mayReadFromMemory() && !instruction->hasMetadata(LLVMContext::MD_invariant_load))
    return false;
  return all_of(instruction->operands(),
                [&](const Use &operand) { return isSameIn(loop, operand, depth + 1); });
}

bool isDear(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) {
    return any_of(*block, [](const Instruction &instruction) {
      const auto *call = dyn_cast<CallInst>(&instruction);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      return callee && annudf::runtime::cpu::isVectorMath(callee->getName());
    });
  });
}

/// A condition of choices that is worth a branch; null where there is none. A branch that always
/// goes the same way costs nothing. One for each dimension, which is often predicted wrong, is
/// worth a function of libm.
Value *findUniform(const Loop &loop, bool mayDifferByDim) {
  const bool ofDims = mayDifferByDim && isDear(loop);
  Value *found = nullptr;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      const auto *choice = dyn_cast<SelectInst>(&instruction);
      Value *condition = choice ? const_cast<Value *>(choice->getCondition()) : nullptr;
      if (!condition || isa<Constant>(condition) || !condition->getType()->isIntegerTy(1) ||
          !loop.isLoopInvariant(condition))
        continue;
      if (isSameIn(loop.getParentLoop(), condition))
        return condition;
      if (ofDims && !found)
        found = condition;
    }
  return found;
}

size_t sizeOf(const Loop &loop) {
  size_t size = 0;
  for (const BasicBlock *block : loop.blocks())
    size += block->size();
  return size;
}

/// Takes what choices by `condition` take where it is `holds`.
void decide(const Loop &loop, const Value *condition, bool holds) {
  SmallVector<SelectInst *> choices;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (auto *choice = dyn_cast<SelectInst>(&instruction);
          choice && choice->getCondition() == condition)
        choices.push_back(choice);
  for (SelectInst *choice : choices)
    choice->replaceAllUsesWith(holds ? choice->getTrueValue() : choice->getFalseValue());
  for (SelectInst *choice : choices)
    RecursivelyDeleteTriviallyDeadInstructions(choice);
}

/// Makes two loops of one. LLVM's own pass leaves loops that are large, as those with functions of
/// libm are, of which there is most to gain. \return the second; null where that cannot be done.
Loop *unswitch(Loop &loop, Value *condition, LoopInfo &loops, DominatorTree &tree) {
  BasicBlock *before = loop.getLoopPreheader(), *exit = loop.getUniqueExitBlock();
  if (!before || !exit || !exit->phis().empty())
    return nullptr;
  BasicBlock *begin = SplitBlock(before, before->getTerminator(), &tree, &loops);
  ValueToValueMapTy mapped;
  SmallVector<BasicBlock *> blocks;
  Loop *other =
      cloneLoopWithPreheader(begin, before, &loop, mapped, ".other", &loops, &tree, blocks);
  remapInstructionsInBlocks(blocks, mapped);
  Instruction *jump = before->getTerminator();
  IRBuilder<> builder(jump);
  // A choice by a poisoned condition has no value, but a branch by one is undefined.
  builder.CreateCondBr(builder.CreateFreeze(condition), begin, cast<BasicBlock>(mapped[begin]));
  jump->eraseFromParent();
  BasicBlock *above = tree.getNode(exit)->getIDom()->getBlock();
  tree.changeImmediateDominator(exit, tree.findNearestCommonDominator(above, before));
  decide(loop, condition, true);
  decide(*other, condition, false);
  return other;
}

/// Whether it is used to index captures alone, as the numbers of rows mostly are.
bool onlyIndexes(const Value &value) {
  return all_of(value.users(), [&](const User *user) {
    if (const auto *address = dyn_cast<GetElementPtrInst>(user))
      return address->getPointerOperand() != &value;
    const auto *op = dyn_cast<BinaryOperator>(user);
    return op &&
           is_contained({Instruction::Add, Instruction::Mul, Instruction::Shl}, op->getOpcode()) &&
           onlyIndexes(*op);
  });
}

/// Whether all that it loads and stores has 32 bits at most, but the numbers of rows.
bool isWidenedByNumbersOnly(const Loop &loop) {
  bool hasNumbers = false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      const Value *moved = isa<LoadInst>(instruction) ? &instruction : nullptr;
      if (const auto *store = dyn_cast<StoreInst>(&instruction))
        moved = store->getValueOperand();
      if (!moved || loop.isLoopInvariant(&instruction) ||
          moved->getType()->getScalarSizeInBits() <= 32)
        continue;
      if (!isa<LoadInst>(instruction) || !moved->getType()->isIntegerTy(64) || !onlyIndexes(*moved))
        return false;
      hasNumbers = true;
    }
  return hasNumbers;
}

/// A gather of captures, which nothing writes.
bool isCaptureGather(const Instruction &instruction) {
  const auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == Intrinsic::masked_gather &&
         call->hasMetadata(LLVMContext::MD_invariant_load);
}

/// Gathers, and what is computed of them, such as a square root.
bool hoistGathers(Loop &loop, const DominatorTree &tree) {
  BasicBlock *before = loop.getLoopPreheader();
  if (!before)
    return false;
  SimpleLoopSafetyInfo safety;
  safety.computeLoopSafetyInfo(&loop);
  bool changed = false;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : make_early_inc_range(*block)) {
      if (!loop.hasLoopInvariantOperands(&instruction))
        continue;
      if (isCaptureGather(instruction) ? safety.isGuaranteedToExecute(instruction, &tree, &loop)
                                       : changed && instruction.getType()->isVectorTy() &&
                                             !instruction.mayReadFromMemory() &&
                                             isSafeToSpeculativelyExecute(&instruction)) {
        instruction.moveBefore(before->getTerminator()->getIterator());
        changed = true;
      }
    }
  return changed;
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

void annudf::runtime::cpu::keepRowLoopsWhole(PassInstrumentationCallbacks &instrumentation) {
  instrumentation.registerShouldRunOptionalPassCallback([](StringRef pass, llvm::Any unit) {
    const auto *loop = llvm::any_cast<const Loop *>(&unit);
    if (!loop || pass != SimpleLoopUnswitchPass::name())
      return true;
    for (const Loop *outer = *loop; outer; outer = outer->getParentLoop())
      if (isRowLoop(*outer))
        return false;
    return true;
  });
}

PreservedAnalyses annudf::runtime::cpu::UnswitchRowLoops::run(Function &function,
                                                              FunctionAnalysisManager &analyses) {
  size_t left = 1 << 14; // Instructions to be copied: what is copied has to be optimised.
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &tree = analyses.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Loop *first : loops.getLoopsInPreorder()) {
    if (!isRowLoop(*first) || !first->isInnermost())
      continue;
    SmallVector<Loop *> made{first};
    for (size_t i = 0; i < made.size();) {
      Loop &loop = *made[i];
      Value *condition = findUniform(loop, /*mayDifferByDim=*/made.size() == 1);
      const size_t size = sizeOf(loop);
      Loop *other = condition && size <= left ? unswitch(loop, condition, loops, tree) : nullptr;
      if (!other) {
        ++i;
        continue;
      }
      left -= size;
      made.push_back(other);
      changed = true;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses annudf::runtime::cpu::WidenRowLoops::run(Function &function,
                                                           FunctionAnalysisManager &analyses) {
  const unsigned bits = analyses.getResult<TargetIRAnalysis>(function)
                            .getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
                            .getFixedValue();
  LLVMContext &context = function.getContext();
  bool changed = false;
  for (const Loop *loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (bits < 64 || !isRowLoop(*loop) || !loop->isInnermost() || !isWidenedByNumbersOnly(*loop))
      continue;
    Constant *rows = ConstantInt::get(Type::getInt32Ty(context), bits / 32);
    setLoopProperties(
        *loop->getLoopLatch()->getTerminator(), *loop->getLoopID(),
        [](const Metadata *) { return true; },
        {MDString::get(context, "llvm.loop.vectorize.width"), ConstantAsMetadata::get(rows)});
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
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

PreservedAnalyses annudf::runtime::cpu::HoistGathers::run(Function &function,
                                                          FunctionAnalysisManager &analyses) {
  const auto &tree = analyses.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  const auto loops = analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder();
  for (Loop *loop : reverse(loops))
    changed |= hoistGathers(*loop, tree);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
