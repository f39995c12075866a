//===- Instructions.cpp - Instructions in the text of LLVM 7 --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace annudf::nvvmir;

/// LLVM 7 has these flags on arithmetic, comparisons and calls, but not on select,
/// phi, casts and negation, where they only permit optimisations.
std::string Printer::fastMath(const Instruction &op) {
  FastMathFlags flags = op.getFastMathFlags();
  if (flags.isFast())
    return "fast ";
  std::string text;
  text += flags.noNaNs() ? "nnan " : "";
  text += flags.noInfs() ? "ninf " : "";
  text += flags.noSignedZeros() ? "nsz " : "";
  text += flags.allowReciprocal() ? "arcp " : "";
  text += flags.allowContract() ? "contract " : "";
  text += flags.approxFunc() ? "afn " : "";
  text += flags.allowReassoc() ? "reassoc " : "";
  return text;
}

void Printer::printBinary(const BinaryOperator &op) {
  os << result(op) << op.getOpcodeName() << " ";
  if (isa<FPMathOperator>(op))
    os << fastMath(op);
  if (const auto *wrapping = dyn_cast<OverflowingBinaryOperator>(&op))
    os << (wrapping->hasNoUnsignedWrap() ? "nuw " : "")
       << (wrapping->hasNoSignedWrap() ? "nsw " : "");
  if (const auto *exact = dyn_cast<PossiblyExactOperator>(&op))
    os << (exact->isExact() ? "exact " : "");
  os << typed(op.getOperand(0)) << ", " << value(op.getOperand(1)) << "\n";
}

void Printer::printCast(const CastInst &op) {
  if (op.getType()->isVectorTy()) {
    fail("vectors have no counterpart in NVVM IR");
    return;
  }
  os << result(op) << op.getOpcodeName() << " " << typed(op.getOperand(0)) << " to "
     << type(op.getType()) << "\n";
}

void Printer::printLoad(const LoadInst &op) {
  if (!op.isSimple()) {
    fail("volatile and atomic loads have no place in a hook");
    return;
  }
  std::string pointee = type(op.getType());
  std::string address = castTo(op.getPointerOperand(), op.getType());
  os << "  " << result(op) << "load " << pointee << ", "
     << pointerTo(pointee, op.getPointerAddressSpace()) << " " << address << ", align "
     << op.getAlign().value();
  // On global memory this is ld.global.nc, the read-only path.
  if (op.hasMetadata(LLVMContext::MD_invariant_load))
    os << ", !invariant.load !1";
  os << "\n";
}

/// Only the words of an accumulator are written.
void Printer::printStore(const StoreInst &op) {
  if (!op.isSimple()) {
    fail("volatile and atomic stores have no place in a hook");
    return;
  }
  const Type *stored = op.getValueOperand()->getType();
  std::string address = castTo(op.getPointerOperand(), stored);
  os << "  store " << typed(op.getValueOperand()) << ", "
     << pointerTo(type(stored), op.getPointerAddressSpace()) << " " << address << ", align "
     << op.getAlign().value() << "\n";
}

void Printer::printAddress(const GetElementPtrInst &op) {
  if (op.getType()->isVectorTy()) {
    fail("vectors have no counterpart in NVVM IR");
    return;
  }
  unsigned space = op.getPointerAddressSpace();
  std::string source = type(op.getSourceElementType());
  std::string base = castTo(op.getPointerOperand(), op.getSourceElementType());
  const Type *element = op.getResultElementType();
  bool isByte = element->isIntegerTy(8);
  std::string name = isByte ? value(&op) : "%p" + std::to_string(casts++);
  os << "  " << name << " = getelementptr " << (op.isInBounds() ? "inbounds " : "") << source
     << ", " << pointerTo(source, space) << " " << base;
  for (const Use &index : op.indices())
    os << ", " << typed(index);
  os << "\n";
  if (!isByte)
    os << "  " << result(op) << "bitcast " << pointerTo(type(element), space) << " " << name
       << " to " << pointerTo("i8", space) << "\n";
}

void Printer::printCall(const CallInst &op) {
  const Function *callee = op.getCalledFunction();
  if (!callee || op.hasOperandBundles()) {
    fail("only direct calls have a counterpart in NVVM IR");
    return;
  }
  StringRef name = callee->isDeclaration() ? externalName(*callee) : callee->getName();
  if (name.empty()) {
    fail("libNVVM has no function '" + callee->getName() + "'");
    return;
  }
  if (callee->getName().starts_with("annudf1_") && !callee->isDeclaration()) {
    fail("calls hook '" + callee->getName() + "'");
    return;
  }
  if (!op.getType()->isVoidTy())
    os << result(op);
  os << "call ";
  if (isa<FPMathOperator>(op))
    os << fastMath(op);
  os << type(op.getType()) << " @" << name << "(";
  for (const Use &argument : op.args())
    os << (argument.getOperandNo() ? ", " : "") << typed(argument);
  os << ")\n";
}

void Printer::printPhi(const PHINode &op) {
  os << result(op) << "phi " << type(op.getType()) << " ";
  for (unsigned i = 0; i < op.getNumIncomingValues(); ++i)
    os << (i ? ", " : "") << "[ " << value(op.getIncomingValue(i)) << ", "
       << label(op.getIncomingBlock(i)) << " ]";
  os << "\n";
}

void Printer::printSwitch(const SwitchInst &op) {
  os << "switch " << typed(op.getCondition()) << ", label " << label(op.getDefaultDest()) << " [";
  for (const auto &entry : op.cases())
    os << " " << typed(entry.getCaseValue()) << ", label " << label(entry.getCaseSuccessor());
  os << " ]\n";
}

void Printer::print(const Instruction &op) {
  // These print lines of their own before the instruction.
  if (const auto *load = dyn_cast<LoadInst>(&op))
    return printLoad(*load);
  if (const auto *store = dyn_cast<StoreInst>(&op))
    return printStore(*store);
  if (const auto *element = dyn_cast<GetElementPtrInst>(&op))
    return printAddress(*element);
  os << "  ";
  if (const auto *binary = dyn_cast<BinaryOperator>(&op))
    return printBinary(*binary);
  if (const auto *cast = dyn_cast<CastInst>(&op))
    return printCast(*cast);
  if (const auto *call = dyn_cast<CallInst>(&op))
    return printCall(*call);
  if (const auto *phi = dyn_cast<PHINode>(&op))
    return printPhi(*phi);
  if (const auto *choice = dyn_cast<SwitchInst>(&op))
    return printSwitch(*choice);
  if (const auto *compare = dyn_cast<CmpInst>(&op)) {
    os << result(op) << op.getOpcodeName() << " "
       << (isa<FCmpInst>(op) ? fastMath(op) : std::string())
       << CmpInst::getPredicateName(compare->getPredicate()) << " " << typed(op.getOperand(0))
       << ", " << value(op.getOperand(1)) << "\n";
    return;
  }
  switch (op.getOpcode()) {
  case Instruction::FNeg: // LLVM 7 has no fneg; this is what it wrote instead.
    os << result(op) << "fsub " << type(op.getType()) << " "
       << constant(ConstantFP::getNegativeZero(op.getType())) << ", " << value(op.getOperand(0))
       << "\n";
    return;
  case Instruction::Select:
    os << result(op) << "select " << typed(op.getOperand(0)) << ", " << typed(op.getOperand(1))
       << ", " << typed(op.getOperand(2)) << "\n";
    return;
  case Instruction::Br:
    if (const auto &branch = cast<BranchInst>(op); branch.isConditional())
      os << "br " << typed(branch.getCondition()) << ", label " << label(branch.getSuccessor(0))
         << ", label " << label(branch.getSuccessor(1)) << "\n";
    else
      os << "br label " << label(branch.getSuccessor(0)) << "\n";
    return;
  case Instruction::Ret:
    os << "ret " << (op.getNumOperands() ? typed(op.getOperand(0)) : std::string("void")) << "\n";
    return;
  default:
    fail(Twine("instruction '") + op.getOpcodeName() + "' has no counterpart in NVVM IR");
  }
}
