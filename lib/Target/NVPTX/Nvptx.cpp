//===- Nvptx.cpp - PTX by LLVM's NVPTX backend ----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/Nvptx.h"

#include "annudf/Target/LibDevice.h"
#include "annudf/Target/NVVMIR.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <mutex>

using namespace llvm;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

Expected<const Target *> findTarget(const Triple &triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string why;
  const Target *target = TargetRegistry::lookupTarget(triple, why);
  if (!target)
    return createStringError(inconvertibleErrorCode(), "LLVM has no NVPTX backend: " + why);
  return target;
}

Expected<std::unique_ptr<TargetMachine>> makeTargetMachine(const Triple &triple, int sm) {
  auto target = findTarget(triple);
  if (!target)
    return target.takeError();
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict; // The lowering has fused what it may.
  return std::unique_ptr<TargetMachine>(
      (*target)->createTargetMachine(triple, "sm_" + std::to_string(sm), /*Features=*/"", options,
                                     std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
}

/// Roundings that libNVVM has as functions of libdevice and NVPTX as instructions, exact in both.
void useInstructions(Module &module) {
  static constexpr std::pair<StringLiteral, Intrinsic::ID> kRoundings[] = {
      {"__nv_trunc", Intrinsic::trunc}, {"__nv_rint", Intrinsic::roundeven}};
  for (auto [name, id] : kRoundings)
    for (const char *suffix : {"", "f"})
      if (Function *function = module.getFunction((name + suffix).str())) {
        function->replaceAllUsesWith(
            Intrinsic::getOrInsertDeclaration(&module, id, {function->getReturnType()}));
        function->eraseFromParent();
      }
}

/// Takes what is called of libdevice into the module.
Error linkLibDevice(Module &module) {
  StringRef called; // The first by name.
  StringSet<> own;
  for (const Function &function : module) {
    const StringRef name = function.getName();
    if (!function.isDeclaration())
      own.insert(name);
    else if (name.starts_with("__nv_") && !function.use_empty() &&
             (called.empty() || name < called))
      called = name;
  }
  if (called.empty())
    return Error::success();
  auto bytes = annudf::libDevice("");
  if (!bytes)
    return createStringError(inconvertibleErrorCode(),
                             "calls '" + called.str() + "': " + toString(bytes.takeError()));
  auto library = parseBitcodeFile((*bytes)->getMemBufferRef(), module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError(inconvertibleErrorCode(), "libdevice cannot be linked");
  internalizeModule(module,
                    [&](const GlobalValue &value) { return own.contains(value.getName()); });
  return Error::success();
}

void optimise(Module &module, TargetMachine &target) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

} // namespace

std::string annudf::whyNoNvptx() {
  auto target = findTarget(Triple("nvptx64-nvidia-cuda"));
  return target ? "" : toString(target.takeError());
}

Expected<std::string> annudf::compileByNvptx(std::unique_ptr<Module> module, int sm) {
  auto target = makeTargetMachine(module->getTargetTriple(), sm);
  if (!target)
    return target.takeError();
  module->setDataLayout((*target)->createDataLayout());
  expandIntrinsics(*module); // To what libNVVM gets, so that both give the same bits.
  useInstructions(*module);
  if (Error error = linkLibDevice(*module))
    return error;
  optimise(*module, **target);
  SmallString<0> text;
  raw_svector_ostream os(text);
  legacy::PassManager passes;
  if ((*target)->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError(inconvertibleErrorCode(), "LLVM's NVPTX backend writes no PTX");
  passes.run(*module);
  return std::string(text);
}
