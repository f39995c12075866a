//===- FunctionJit.cpp - Compiles a device function for this machine ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionJit.h"

#include "annudf/Compiler/Compiler.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <stdexcept>

using namespace llvm;
using namespace annudf;
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

struct FunctionJit::Implementation {
  std::unique_ptr<orc::LLJIT> jit;
};

FunctionJit::FunctionJit(const std::string &text, const std::string &name)
    : implementation(new Implementation) {
  static const bool ready = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  if (!ready)
    throw std::runtime_error("no native target");
  CompileOptions options;
  options.metricName = name;
  const std::string bitcode = lowerMetric(text, "function.mlir", Stage::HostBitcode, options);
  auto context = std::make_unique<LLVMContext>();
  auto module = take(parseBitcodeFile(MemoryBufferRef(bitcode, "function"), *context));
  implementation->jit = take(orc::LLJITBuilder().create());
  orc::LLJIT &jit = *implementation->jit;
  module->setDataLayout(jit.getDataLayout());
  jit.getMainJITDylib().addGenerator(take(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix())));
  take(jit.addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
  address = take(jit.lookup(name)).toPtr<void *>();
}

FunctionJit::~FunctionJit() = default;
