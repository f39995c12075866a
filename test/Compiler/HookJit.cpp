//===- HookJit.cpp - Compiles a metric and calls its hooks ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

#include <stdexcept>

using namespace llvm;
using namespace annudf;
using namespace annudf::test;

static thread_local int32_t currentElement = ANNUDF_ELEMENT_F32;
static int32_t elementOfTest() { return currentElement; }

template <typename T> static T take(Expected<T> value) {
  if (!value)
    throw std::runtime_error(toString(value.takeError()));
  return std::move(*value);
}

static void take(llvm::Error error) {
  if (error)
    throw std::runtime_error(toString(std::move(error)));
}

struct HookJit::Implementation {
  std::unique_ptr<orc::LLJIT> jit;
};

HookJit::HookJit(const Artifact &artifact) : implementation(new Implementation) {
  static const bool ready = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  if (!ready)
    throw std::runtime_error("no native target");
  const Payload *payload = artifact.find(PayloadKind::HostBitcode);
  if (!payload)
    throw std::runtime_error("artifact without host bitcode");
  auto context = std::make_unique<LLVMContext>();
  auto module = take(parseBitcodeFile(MemoryBufferRef(payload->bytes, "metric"), *context));
  implementation->jit = take(orc::LLJITBuilder().create());
  orc::LLJIT &jit = *implementation->jit;
  module->setDataLayout(jit.getDataLayout());
  auto &library = jit.getMainJITDylib();
  library.addGenerator(take(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit.getDataLayout().getGlobalPrefix())));
  take(library.define(orc::absoluteSymbols(
      {{jit.mangleAndIntern("annudf1_element"),
        {orc::ExecutorAddr::fromPtr(&elementOfTest), JITSymbolFlags::Exported}}})));
  take(jit.addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
  std::string suffix = "_" + std::to_string(artifact.manifest.accumulatorWidth());
  auto find = [&](const std::string &name) { return take(jit.lookup(name)).toPtr<void *>(); };
  init_ = find("annudf1_init" + suffix);
  update_ = find("annudf1_update" + suffix);
  finalize_ = find("annudf1_finalize" + suffix);
  order_ = find("annudf1_order");
  dims_ = find("annudf1_dims");
}

HookJit::~HookJit() = default;

void HookJit::setElement(annudf_element element) { currentElement = element; }

bool test::haveLibNvvm() { return !describeLibNvvm().empty(); }

Artifact test::compileText(const std::string &text, bool device,
                           const std::string &inlineCaptures) {
  CompileOptions options;
  options.ltoIr = device;
  options.archs = {"sm_75", "sm_90", "sm_100"};
  options.inlineCaptures = inlineCaptures;
  return compileMetric(text, "test.mlir", options);
}

std::string test::compileError(const std::string &text, const CompileOptions &options) {
  try {
    CompileOptions host = options;
    host.ltoIr = !options.archs.empty();
    compileMetric(text, "test.mlir", host);
  } catch (const annudf::Error &error) {
    return error.what();
  }
  return "";
}
