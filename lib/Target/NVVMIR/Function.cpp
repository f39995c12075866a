//===- Function.cpp - Functions in the text of LLVM 7 ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"
#include "Printer.h"

#include "annudf/Conversion/Functions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace annudf;
using namespace annudf::nvvmir;

StringRef annudf::nvvmir::externalName(const Function &function) {
  StringRef name = function.getName();
  if (name.starts_with("llvm."))
    return intrinsicName(name);
  const bool isLinked = function.hasFnAttribute(kLinkedAttribute);
  return name.starts_with("__nv_") || isLinked ? name : StringRef();
}

Error Printer::takeError() {
  return hasFailed() ? createStringError(inconvertibleErrorCode(), fault) : Error::success();
}

std::string Printer::fail(const Twine &what) {
  if (!hasFailed())
    fault =
        ("NVVM IR: " + what + (function ? ", in function '" + function->getName() + "'" : Twine()))
            .str();
  return "";
}

std::string Printer::value(const Value *value) {
  if (const auto *constant = dyn_cast<Constant>(value))
    return this->constant(constant);
  auto found = numbers.find(value);
  if (found == numbers.end())
    return fail("value '" + value->getName() + "' is used but not defined");
  return (isa<Argument>(value) ? "%a" : "%v") + std::to_string(found->second);
}

std::string Printer::typed(const Value *value) {
  return type(value->getType()) + " " + this->value(value);
}

std::string Printer::label(const BasicBlock *block) {
  return "%b" + std::to_string(numbers.lookup(block));
}

std::string Printer::result(const Instruction &instruction) { return value(&instruction) + " = "; }

std::string Printer::castTo(const Value *pointer, const Type *pointee) {
  if (pointee->isIntegerTy(8))
    return value(pointer);
  std::string name = "%p" + std::to_string(casts++);
  os << "  " << name << " = bitcast " << typed(pointer) << " to "
     << pointerTo(type(pointee), pointer->getType()->getPointerAddressSpace()) << "\n";
  return name;
}

/// What a pointer of a hook points at in annudf_abi.h: 64 bits, the slots of captures, or a word
/// of the accumulator, whose bits are in the hook's name. Empty for what is none.
static std::string pointee(const Argument &argument) {
  const Function &function = *argument.getParent();
  const StringRef name = function.getName();
  if (!argument.getType()->isPointerTy())
    return "";
  if (!name.starts_with("annudf1_")) // A capture of ANNUDF_CUVS_METRIC_ABI_ID is told by its place.
    return function.getReturnType()->isFloatTy() && function.arg_size() == 5 &&
                   argument.getArgNo() == 3 && argument.getType()->getPointerAddressSpace() == 0
               ? "float"
               : "";
  const bool isAccumulator = argument.getArgNo() == 0;
  return isAccumulator && name.contains("_s32") ? "i32" : "i64";
}

/// What C's callers and callees rely on for numbers narrower than an int.
static const char *widening(AttributeSet attributes) {
  if (attributes.hasAttribute(Attribute::ZExt))
    return "zeroext ";
  return attributes.hasAttribute(Attribute::SExt) ? "signext " : "";
}

std::string Printer::signature(const Function &function, bool named) {
  std::string name =
      function.isDeclaration() ? "@" + externalName(function).str() : symbol(&function);
  const AttributeList attributes = function.getAttributes();
  std::string text =
      widening(attributes.getRetAttrs()) + type(function.getReturnType()) + " " + name + "(";
  for (const Argument &argument : function.args()) {
    text += argument.getArgNo() ? ", " : "";
    const std::string pointed = pointee(argument);
    text += pointed.empty() ? type(argument.getType()) : pointed + "*";
    if (const char *widened = widening(attributes.getParamAttrs(argument.getArgNo())); *widened)
      text += " " + StringRef(widened).rtrim().str();
    if (named)
      text += (pointed.empty() ? " %a" : " %s") + std::to_string(argument.getArgNo());
  }
  return text + ")";
}

/// Only what both readers know; all else is a permission to optimise that inlining
/// makes superfluous.
std::string Printer::attributes(const Function &function) {
  std::string text;
  if (function.hasFnAttribute(Attribute::AlwaysInline))
    text += " alwaysinline";
  if (function.hasFnAttribute(Attribute::NoUnwind))
    text += " nounwind";
  if (function.doesNotAccessMemory())
    text += " readnone";
  else if (function.onlyReadsMemory())
    text += " readonly";
  return text;
}

void Printer::printFunction(const Function &function) {
  this->function = &function;
  if (function.isVarArg() || function.getCallingConv() != CallingConv::C) {
    fail("only functions with C's calling convention can be printed");
    return;
  }
  if (function.isDeclaration()) {
    if (externalName(function).empty()) {
      fail("libNVVM has no function '" + function.getName() + "'");
      return;
    }
    os << "declare " << signature(function, /*named=*/false) << attributes(function) << "\n";
    return;
  }
  numbers.clear();
  casts = 0;
  unsigned next = 0;
  for (const Argument &argument : function.args())
    numbers[&argument] = argument.getArgNo();
  for (const BasicBlock &block : function) {
    numbers[&block] = next++;
    for (const Instruction &instruction : block)
      numbers[&instruction] = next++;
  }
  os << "define " << (function.hasLocalLinkage() ? "internal " : "")
     << signature(function, /*named=*/true) << attributes(function) << " {\n";
  for (const BasicBlock &block : function) {
    os << label(&block).substr(1) << ":\n";
    if (&block == &function.getEntryBlock())
      for (const Argument &argument : function.args())
        if (const std::string pointed = pointee(argument); !pointed.empty())
          os << "  " << value(&argument) << " = bitcast " << pointed << "* %s"
             << argument.getArgNo() << " to i8*\n";
    for (const Instruction &instruction : block) {
      print(instruction);
      if (hasFailed())
        return;
    }
  }
  os << "}\n";
  this->function = nullptr;
}
