//===- HostJit.cpp - Host bitcode, compiled for this machine -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostJit.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <map>
#include <stdexcept>

using namespace llvm;
using namespace annudf::test;

template <typename T> static T take(Expected<T> value) {
  if (!value)
    throw std::runtime_error(toString(value.takeError()));
  return std::move(*value);
}

static void take(llvm::Error error) {
  if (error)
    throw std::runtime_error(toString(std::move(error)));
}

struct HostJit::Implementation {
  std::unique_ptr<orc::LLJIT> jit;
  std::map<std::string, size_t> parameters; ///< The module is the JIT's and gone once compiled.
};

HostJit::HostJit(const std::string &bitcode) : implementation(new Implementation) {
  static const bool ready = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  if (!ready)
    throw std::runtime_error("no native target");
  auto context = std::make_unique<LLVMContext>();
  auto module = take(parseBitcodeFile(MemoryBufferRef(bitcode, "host"), *context));
  for (const Function &function : *module)
    if (!function.isDeclaration())
      implementation->parameters[function.getName().str()] = function.arg_size();
  implementation->jit = take(orc::LLJITBuilder().create());
  orc::LLJIT &jit = *implementation->jit;
  module->setDataLayout(jit.getDataLayout());
  jit.getMainJITDylib().addGenerator(take(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix())));
  take(jit.addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
}

HostJit::~HostJit() = default;

void *HostJit::find(const std::string &symbol) const {
  return take(implementation->jit->lookup(symbol)).toPtr<void *>();
}

size_t HostJit::parametersOf(const std::string &symbol) const {
  return implementation->parameters.at(symbol);
}
