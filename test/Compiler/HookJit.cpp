//===- HookJit.cpp - Compiles a metric and calls its hooks ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HookJit.h"

#include "annudf/ABI/Hooks.h"

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

std::vector<std::string> annudf::test::symbolsOf(const std::string &bitcode) {
  LLVMContext context;
  auto module = take(parseBitcodeFile(MemoryBufferRef(bitcode, "symbols"), context));
  std::vector<std::string> names;
  for (const GlobalValue &value : module->global_values())
    names.push_back(value.getName().str());
  return names;
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
  take(jit.addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))));
  const Manifest &manifest = artifact.manifest;
  auto find = [&](ScanHook hook) {
    return take(jit.lookup(symbolOf(hook, manifest.hookWidths()))).toPtr<void *>();
  };
  accumulator_ = manifest.accumulator;
  compute_ = manifest.compute;
  init_ = find(ScanHook::INIT);
  update_ = find(ScanHook::UPDATE);
  if (manifest.has(ANNUDF_HOOK_FINALIZE))
    finalize_ = find(ScanHook::FINALIZE);
  if (manifest.has(ANNUDF_HOOK_COMBINE))
    combine_ = find(ScanHook::COMBINE);
  contract_ = find(ScanHook::CONTRACT);
}

HookJit::~HookJit() = default;

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
