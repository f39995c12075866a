//===- Constants.cpp - Types and constants in the text of LLVM 7 ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace annudf::nvvmir;

std::string Printer::pointerTo(const std::string &pointee, unsigned addressSpace) {
  if (addressSpace == 0)
    return pointee + "*";
  return pointee + " addrspace(" + std::to_string(addressSpace) + ")*";
}

std::string Printer::type(const Type *type) {
  switch (type->getTypeID()) {
  case Type::VoidTyID:
    return "void";
  case Type::HalfTyID:
    return "half";
  case Type::FloatTyID:
    return "float";
  case Type::DoubleTyID:
    return "double";
  case Type::IntegerTyID:
    return "i" + std::to_string(type->getIntegerBitWidth());
  case Type::PointerTyID:
    return pointerTo("i8", type->getPointerAddressSpace());
  case Type::ArrayTyID:
    return "[" + std::to_string(type->getArrayNumElements()) + " x " +
           this->type(type->getArrayElementType()) + "]";
  default: {
    std::string text;
    raw_string_ostream(text) << *type;
    return fail("type " + text + " has no counterpart in NVVM IR");
  }
  }
}

/// libNVVM takes fewer characters in a name than LLVM does, and no quotes.
std::string Printer::symbol(const GlobalValue *value) {
  StringRef name = value->getName();
  bool isValid = !name.empty() && !isDigit(name.front()) &&
                 all_of(name, [](char c) { return isAlnum(c) || c == '_' || c == '$'; });
  if (!isValid && !name.starts_with("llvm."))
    return fail("libNVVM does not take the name '" + name + "'");
  return "@" + name.str();
}

/// half has hexadecimal digits of its own; float is written as the double of equal
/// value, which for a NaN means the same bits at the top of the fraction.
std::string Printer::floatConstant(const APFloat &value) {
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  if (&value.getSemantics() == &APFloat::IEEEhalf())
    return "0xH" + utohexstr(bits, /*LowerCase=*/false, 4);
  if (&value.getSemantics() == &APFloat::IEEEsingle()) {
    if (value.isNaN()) {
      bits = ((bits >> 31) << 63) | (uint64_t(0x7ff) << 52) | ((bits & 0x7fffff) << 29);
    } else {
      APFloat wide = value;
      bool loses = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
      bits = wide.bitcastToAPInt().getZExtValue();
    }
  }
  return "0x" + utohexstr(bits, /*LowerCase=*/false, 16);
}

std::string Printer::aggregate(const Constant *constant, char open, char close, unsigned count) {
  std::string text(1, open);
  for (unsigned i = 0; i < count; ++i) {
    const Constant *element = constant->getAggregateElement(i);
    text += (i ? ", " : "") + type(element->getType()) + " " + this->constant(element);
  }
  return text + close;
}

/// A global as an i8 pointer.
std::string Printer::address(const GlobalVariable *global) {
  unsigned space = global->getAddressSpace();
  return "bitcast (" + pointerTo(type(global->getValueType()), space) + " " + symbol(global) +
         " to " + pointerTo("i8", space) + ")";
}

std::string Printer::constantExpr(const ConstantExpr *expression) {
  const auto *element = dyn_cast<GEPOperator>(expression);
  if (!element || element->getType()->isVectorTy())
    return fail(Twine("constant expression '") + expression->getOpcodeName() +
                "' has no counterpart in NVVM IR");
  const auto *base = cast<Constant>(element->getPointerOperand());
  unsigned space = element->getPointerAddressSpace();
  std::string source = type(element->getSourceElementType());
  std::string text = std::string("bitcast (") +
                     pointerTo(type(element->getResultElementType()), space) + " getelementptr " +
                     (element->isInBounds() ? "inbounds " : "") + "(" + source + ", " +
                     pointerTo(source, space) + " bitcast (" + pointerTo("i8", space) + " " +
                     constant(base) + " to " + pointerTo(source, space) + ")";
  for (const Use &index : element->indices())
    text += ", " + type(index->getType()) + " " + constant(cast<Constant>(index));
  return text + ") to " + pointerTo("i8", space) + ")";
}

std::string Printer::constant(const Constant *constant) {
  if (const auto *integer = dyn_cast<ConstantInt>(constant)) {
    if (integer->getBitWidth() == 1)
      return integer->isZero() ? "false" : "true";
    SmallString<40> text;
    integer->getValue().toStringSigned(text);
    return text.str().str();
  }
  if (const auto *number = dyn_cast<ConstantFP>(constant)) {
    type(number->getType()); // Refuses bfloat and wider.
    return hasFailed() ? "" : floatConstant(number->getValueAPF());
  }
  if (isa<UndefValue>(constant)) // Poison too, which LLVM 7 does not know.
    return "undef";
  if (isa<ConstantPointerNull>(constant))
    return "null";
  if (isa<ConstantAggregateZero>(constant))
    return "zeroinitializer";
  if (const auto *array = dyn_cast<ConstantDataArray>(constant))
    return aggregate(array, '[', ']', array->getNumElements());
  if (const auto *array = dyn_cast<ConstantArray>(constant))
    return aggregate(array, '[', ']', array->getNumOperands());
  if (const auto *global = dyn_cast<GlobalVariable>(constant))
    return address(global);
  if (const auto *expression = dyn_cast<ConstantExpr>(constant))
    return constantExpr(expression);
  std::string text;
  raw_string_ostream(text) << *constant;
  return fail("constant " + text + " has no counterpart in NVVM IR");
}

void Printer::printGlobal(const GlobalVariable &global) {
  // Anything else would be state that outlives a hook.
  if (!global.hasInitializer() || !global.isConstant() || !global.hasLocalLinkage()) {
    fail("global '" + global.getName() + "' is not a private constant");
    return;
  }
  os << symbol(&global) << " = internal addrspace(" << global.getAddressSpace() << ") constant "
     << type(global.getValueType()) << " " << constant(global.getInitializer());
  if (MaybeAlign align = global.getAlign())
    os << ", align " << align->value();
  os << "\n";
}
