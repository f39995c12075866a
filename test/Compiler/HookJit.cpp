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
#include "llvm/IR/Module.h"

#include <stdexcept>

using namespace llvm;
using namespace annudf;
using namespace annudf::test;

std::vector<std::string> annudf::test::symbolsOf(const std::string &bitcode) {
  LLVMContext context;
  auto module = parseBitcodeFile(MemoryBufferRef(bitcode, "symbols"), context);
  if (!module)
    throw std::runtime_error(toString(module.takeError()));
  std::vector<std::string> names;
  for (const GlobalValue &value : (*module)->global_values())
    names.push_back(value.getName().str());
  return names;
}

static const std::string &hostBitcode(const Artifact &artifact) {
  const Payload *payload = artifact.find(PayloadKind::HostBitcode);
  if (!payload)
    throw std::runtime_error("artifact without host bitcode");
  return payload->bytes;
}

HookJit::HookJit(const Artifact &artifact) : jit(hostBitcode(artifact)) {
  const Manifest &manifest = artifact.manifest;
  auto find = [&](ScanHook hook) { return jit.find(symbolOf(hook, manifest.hookWidths())); };
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
