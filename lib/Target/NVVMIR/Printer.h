//===- Printer.h - Prints LLVM IR as the text of LLVM 7 -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM 7 has typed pointers. Every pointer is printed as `i8 addrspace(N)*` and
// cast where it is used, except for the hooks' parameters: their prototypes have to
// be nvcc's, or the linker will not inline them.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_TARGET_NVVMIR_PRINTER_H
#define ANNUDF_LIB_TARGET_NVVMIR_PRINTER_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace annudf::nvvmir {

/// What the printers share. The first fault wins; text after it is worthless.
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  bool hasFailed() const { return !fault.empty(); }
  llvm::Error takeError();

  /// Defines function and body, or declares it.
  void printFunction(const llvm::Function &function);
  void printGlobal(const llvm::GlobalVariable &global);

private:
  // Types and constants (Types.cpp, Constants.cpp).
  std::string type(const llvm::Type *type);
  std::string pointerTo(const std::string &pointee, unsigned addressSpace);
  std::string constant(const llvm::Constant *constant);
  std::string address(const llvm::GlobalVariable *global);
  std::string floatConstant(const llvm::APFloat &value);
  std::string aggregate(const llvm::Constant *constant, char open, char close, unsigned count);
  std::string constantExpr(const llvm::ConstantExpr *expression);
  std::string symbol(const llvm::GlobalValue *value);

  // Values (Function.cpp): the name, and the name after its type.
  std::string value(const llvm::Value *value);
  std::string typed(const llvm::Value *value);
  std::string label(const llvm::BasicBlock *block);
  std::string result(const llvm::Instruction &instruction);
  std::string signature(const llvm::Function &function, bool named);
  std::string attributes(const llvm::Function &function);
  /// Casts `pointer` to `pointee*` in a line of its own; returns the cast's name.
  std::string castTo(const llvm::Value *pointer, const llvm::Type *pointee);

  // Instructions (Instructions.cpp).
  void print(const llvm::Instruction &instruction);
  void printBinary(const llvm::BinaryOperator &op);
  void printCast(const llvm::CastInst &op);
  void printLoad(const llvm::LoadInst &op);
  void printStore(const llvm::StoreInst &op);
  void printAddress(const llvm::GetElementPtrInst &op);
  void printCall(const llvm::CallInst &op);
  void printPhi(const llvm::PHINode &op);
  void printSwitch(const llvm::SwitchInst &op);
  std::string fastMath(const llvm::Instruction &op);

  std::string fail(const llvm::Twine &what);

  llvm::raw_ostream &os;
  const llvm::Function *function = nullptr;
  llvm::DenseMap<const llvm::Value *, unsigned> numbers;
  unsigned casts = 0;
  std::string fault;
};

/// The name of a function that the module only declares: an intrinsic's, libdevice's
/// or the ABI's. Empty if libNVVM has no such function.
llvm::StringRef externalName(const llvm::Function &function);

} // namespace annudf::nvvmir

#endif // ANNUDF_LIB_TARGET_NVVMIR_PRINTER_H
