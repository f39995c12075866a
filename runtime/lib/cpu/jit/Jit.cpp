//===- Jit.cpp - A scan specialised for one metric and element ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Jit.h"
#include "Link.h"
#include "Routines.h"
#include "VectorMath.h"
#include "Width.h"

#include "annudf/Support/Fork.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/Clock.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <mutex>
#include <new>

using namespace llvm;

namespace {

using annudf::Error;
using annudf::ErrorKind;

template <class T> T expectHost(Expected<T> value, const char *what) {
  if (value)
    return std::move(*value);
  throw Error(ErrorKind::Environment,
              std::string("LLVM cannot ") + what + ": " + toString(value.takeError()));
}

orc::JITTargetMachineBuilder hostBuilder(const std::string &cpu = "") {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    // Where LLVM finds no memory it would end the process; its frames can be unwound, as
    // they are for operator new.
    install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
  });
  auto builder = expectHost(orc::JITTargetMachineBuilder::detectHost(), "detect this host");
  if (!cpu.empty()) {
    builder.setCPU(cpu);
    builder.setFeatures("");
  }
  builder.setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  builder.setRelocationModel(Reloc::PIC_);
  // Operations fuse where the metric says so (llvm.fma, or the contract flag), nowhere else.
  builder.getOptions().AllowFPOpFusion = FPOpFusion::Standard;
  return builder;
}

/// glibc's vector math, where there is one.
std::unique_ptr<orc::DynamicLibrarySearchGenerator> openVectorMath(const Triple &triple,
                                                                   char prefix) {
  if (!triple.isOSLinux() || triple.getArch() != Triple::x86_64)
    return nullptr;
  auto library = orc::DynamicLibrarySearchGenerator::Load(
      annudf::runtime::cpu::kVectorMathLibrary, prefix, [](const orc::SymbolStringPtr &name) {
        return annudf::runtime::cpu::isAllowedExternal(*name);
      });
  if (library)
    return std::move(*library);
  consumeError(library.takeError());
  return nullptr;
}

class JitKernel : public annudf::runtime::cpu::ScanKernel {
public:
  using ScanKernel::entry;
  std::unique_ptr<orc::LLJIT> jit;
};

} // namespace

namespace annudf::runtime::cpu {

std::shared_ptr<const ScanKernel> compileScan(const MetricView &metric, ScanElements elements,
                                              const ScanTarget &host) {
  const CompilerUse use;
  const auto started = std::chrono::steady_clock::now();
  auto builder = hostBuilder(host.cpu);
  auto target = expectHost(builder.createTargetMachine(), "make code for this host");
  const char prefix = target->createDataLayout().getGlobalPrefix();
  auto vectorMath = openVectorMath(target->getTargetTriple(), prefix);

  auto context = std::make_unique<LLVMContext>();
  auto kernel = std::make_shared<JitKernel>();
  auto module =
      linkScan(*context, *target, metric, elements, vectorMath != nullptr, host, &kernel->remark);
  kernel->isWhole = metric.artifact.manifest.isPairwise();
  kernel->scratchBytes = metric.artifact.manifest.scratchBytes;
  kernel->scratchPerDim = metric.artifact.manifest.scratchPerDim;
  kernel->jit = expectHost(orc::LLJITBuilder()
                               .setJITTargetMachineBuilder(std::move(builder))
                               .setLinkProcessSymbolsByDefault(false)
                               .setPlatformSetUp(orc::setUpInactivePlatform)
                               .create(),
                           "start its JIT");
  orc::JITDylib &library = kernel->jit->getMainJITDylib();
  orc::SymbolMap routines;
  for (const Routine &routine : compilerRoutines())
    routines[kernel->jit->mangleAndIntern(routine.name)] = {
        orc::ExecutorAddr::fromPtr(routine.address), JITSymbolFlags::Exported};
  if (auto error = library.define(orc::absoluteSymbols(std::move(routines))))
    throw annudf::Error(ErrorKind::Environment,
                        "LLVM cannot define its routines: " + toString(std::move(error)));
  library.addGenerator(expectHost(
      orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          prefix, [](const orc::SymbolStringPtr &name) { return isAllowedExternal(*name); }),
      "look up libm"));
  if (vectorMath)
    library.addGenerator(std::move(vectorMath));
  // What went wrong is told with the lookup below, not on the user's terminal. The reporter lives
  // as long as the JIT.
  const auto told = std::make_shared<std::string>();
  kernel->jit->getExecutionSession().setErrorReporter([told](llvm::Error error) {
    *told += (told->empty() ? "" : "; ") + toString(std::move(error));
  });
  if (auto error =
          kernel->jit->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
    throw annudf::Error(ErrorKind::Environment,
                        metric.origin +
                            ": cannot add the scan to the JIT: " + toString(std::move(error)));
  auto entry = kernel->jit->lookup(scanEntryName(metric));
  if (!entry)
    throw annudf::Error(ErrorKind::Input, metric.origin +
                                              ": host bitcode: " + toString(entry.takeError()) +
                                              (told->empty() ? "" : ": " + *told));
  kernel->entry = entry->toPtr<ScanKernel::Entry *>();
  kernel->linkMs = msSince(started);
  return kernel;
}

namespace {

/// The facts about the host that are in a key.
struct HostTarget {
  std::string cpu, features, scan;
  uint32_t bits;
  std::vector<std::string> options;
  explicit HostTarget(const ScanTarget &host) {
    auto builder = hostBuilder(host.cpu);
    auto target = expectHost(builder.createTargetMachine(), "make code for this host");
    cpu = target->getTargetTriple().str() + " " + target->getTargetCPU().str();
    features = target->getTargetFeatureString().str();
    bits = host.vectorBits != 0 ? host.vectorBits : vectorBits(*target);
    const char prefix = target->createDataLayout().getGlobalPrefix();
    options = scanOptions(openVectorMath(target->getTargetTriple(), prefix) != nullptr);
    scan = sha256Hex(scanBitcode());
  }
};

/// Asking the host takes longer than a small search.
const HostTarget &thisHost() {
  static std::once_flag once; // As it opens a library it must not hold forks.
  static const HostTarget *own = nullptr;
  std::call_once(once, [] { own = new HostTarget({}); });
  return *own;
}

} // namespace

KernelKey scanKey(const MetricView &metric, ScanElements elements, const ScanTarget &host) {
  const CompilerUse use;
  const HostTarget &target = host.isThisOne() ? thisHost() : HostTarget(host);
  const Payload *payload = metric.artifact.find(PayloadKind::HostBitcode);
  KernelKey key = metricKey(metric, payload ? *payload : Payload{}, elements);
  key.scan = target.scan;
  key.linker = "llvm";
  key.linkerVersion = LLVM_VERSION_STRING;
  key.options = target.options;
  if (host.explains)
    key.options.push_back("explains");
  key.arch = target.cpu;
  key.features = target.features;
  key.vectorBits = target.bits;
  return key;
}

std::string scanAssembly(const MetricView &metric, ScanElements elements, const ScanTarget &host) {
  const CompilerUse use;
  auto builder = hostBuilder(host.cpu);
  auto target = expectHost(builder.createTargetMachine(), "make code for this host");
  const char prefix = target->createDataLayout().getGlobalPrefix();
  LLVMContext context;
  auto module = linkScan(context, *target, metric, elements,
                         openVectorMath(target->getTargetTriple(), prefix) != nullptr, host);
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if (target->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    throw annudf::Error(ErrorKind::Environment, "LLVM cannot print assembly for this host");
  passes.run(*module);
  return std::string(text);
}

std::string describeHost() {
  const CompilerUse use;
  auto builder = hostBuilder();
  auto target = expectHost(builder.createTargetMachine(), "make code for this host");
  return target->getTargetTriple().str() + ", " + target->getTargetCPU().str() + ", " +
         std::to_string(vectorBits(*target)) + "-bit vectors, LLVM " LLVM_VERSION_STRING;
}

} // namespace annudf::runtime::cpu
