//===- Link.cpp - From two bitcodes to one optimised module ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"
#include "HookArithmetic.h"
#include "Routines.h"
#include "RowLoops.h"
#include "Stubs.h"
#include "VectorMath.h"
#include "Width.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/ABI/SlowRows.h"
#include "annudf/Support/Printable.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace {

constexpr unsigned char kScanBitcode[] = {
#include "ScanBitcode.inc"
};

using annudf::ErrorKind;
using annudf::kRuntimeConstants;
using annudf::ScanHook;
using annudf::symbolOf;

[[noreturn]] void refuse(const annudf::runtime::MetricView &metric, const Twine &fault) {
  throw annudf::Error(ErrorKind::Input, (Twine(metric.origin) + ": host bitcode: " + fault).str());
}

/// Keeps what LLVM reports as an error, which would otherwise end the process.
struct CollectErrors : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() != DS_Error)
      return true;
    raw_string_ostream stream(text);
    DiagnosticPrinterRawOStream printer(stream);
    if (!text.empty())
      stream << "; ";
    info.print(printer);
    return true;
  }
  std::string text;
};

std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

std::string toText(const Type &type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

/// What code of a distance of whole vectors calls.
std::vector<StringRef> accessorsOf(const annudf::runtime::MetricView &metric) {
  std::vector<StringRef> names;
  if (const annudf::Manifest &manifest = metric.artifact.manifest; manifest.isPairwise())
    annudf::forEachPairwiseAccessor(
        manifest.computeWidth(),
        [&](annudf::PairwiseAccessor, const char *symbol, auto) { names.emplace_back(symbol); });
  return names;
}

/// The scan's module with the bodies that `entry` and `others` reach: each pair of widths has an
/// entry, and reading and optimising all of them would take longer than the one that is wanted.
std::unique_ptr<Module> readScan(LLVMContext &context, StringRef entry,
                                 ArrayRef<StringRef> others) {
  auto check = [](llvm::Error error) {
    if (error)
      throw annudf::Error(ErrorKind::Environment,
                          "the CPU backend's own scan bitcode cannot be read by this LLVM: " +
                              oneLine(toString(std::move(error))));
  };
  const StringRef bytes = annudf::runtime::cpu::scanBitcode();
  auto module = getLazyBitcodeModule(MemoryBufferRef(bytes, "scan"), context);
  check(module.takeError());
  SmallVector<Function *> reached{(*module)->getFunction(entry)};
  if (!reached.front())
    throw annudf::Error(ErrorKind::Environment,
                        "the CPU backend's own scan bitcode has no " + entry.str());
  for (StringRef other : others)
    if (Function *function = (*module)->getFunction(other))
      reached.push_back(function);
  while (!reached.empty()) {
    Function *function = reached.pop_back_val();
    if (!function->isMaterializable())
      continue;
    check(function->materialize());
    for (Instruction &instruction : instructions(*function))
      for (Use &operand : instruction.operands())
        if (auto *used = dyn_cast<Function>(operand->stripPointerCasts()))
          reached.push_back(used);
  }
  for (Function &function : **module)
    if (function.isMaterializable())
      function.deleteBody(); // And external, so that the linker asks for no definition.
  check((*module)->materializeAll());
  return std::move(*module);
}

std::unique_ptr<Module> readMetric(LLVMContext &context,
                                   const annudf::runtime::MetricView &metric) {
  const annudf::Payload *payload = metric.artifact.find(annudf::PayloadKind::HostBitcode);
  if (!payload && metric.artifact.hasLinkedCode())
    throw annudf::Error(ErrorKind::Input, metric.origin + ": calls linked device code, which runs "
                                                          "on a GPU only");
  if (!payload && !metric.artifact.manifest.verified)
    throw annudf::Error(ErrorKind::Input, metric.origin + ": has no host bitcode: CUDA source "
                                                          "runs on a GPU only");
  if (!payload)
    throw annudf::Error(
        ErrorKind::Input,
        metric.origin + ": has no code for the CPU; compile it with host code, or search on a GPU");
  auto module = parseBitcodeFile(MemoryBufferRef(payload->bytes, "metric"), context);
  if (!module)
    refuse(metric, oneLine(toString(module.takeError())));
  std::string fault;
  raw_string_ostream stream(fault);
  if (verifyModule(**module, &stream))
    refuse(metric, "not valid IR: " + oneLine(fault));
  // Else a label would decide which code `annudf verify` leaves out.
  if (const std::string made = (*module)->getTargetTriple().str(); made != payload->triple)
    refuse(metric, "made for '" + made + "', its manifest says '" + payload->triple + "'");
  return std::move(*module);
}

bool isHookName(StringRef name) {
  return name.starts_with("annudf1_") || name.starts_with("annudf2_");
}

/// What a metric's module may hold: the hooks, private helpers and constants.
void checkContents(const Module &module, const Module &scan,
                   const annudf::runtime::MetricView &metric) {
  const Triple &triple = module.getTargetTriple();
  if (triple.getArch() != Triple::UnknownArch &&
      triple.getArch() != scan.getTargetTriple().getArch())
    refuse(metric, "made for " + triple.str() + ", this host is " + scan.getTargetTriple().str());
  if (!module.getModuleInlineAsm().empty())
    refuse(metric, "holds inline assembly");
  for (const GlobalVariable &global : module.globals())
    if (global.isDeclaration() || !global.isConstant() || global.getName().starts_with("llvm."))
      refuse(metric, "global '" + global.getName() + "' is not a private constant");
  if (!module.alias_empty() || !module.ifunc_empty())
    refuse(metric, "holds an alias");
  for (const Function &function : module) {
    if (function.isDeclaration()) {
      if (is_contained(accessorsOf(metric), function.getName())) {
        if (function.getFunctionType() != scan.getFunction(function.getName())->getFunctionType())
          refuse(metric, "calls '" + function.getName() + "' with another prototype");
        continue;
      }
      if (!function.isIntrinsic() && !annudf::runtime::cpu::isAllowedExternal(function.getName()))
        refuse(metric, "calls '" + function.getName() + "', which a hook may not call");
      continue;
    }
    if (function.getName().starts_with("annudf_cpu_") ||
        is_contained(kRuntimeConstants, function.getName()) ||
        is_contained(accessorsOf(metric), function.getName()))
      refuse(metric, "defines '" + function.getName() + "', which belongs to the scan");
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call && call->isInlineAsm())
        refuse(metric, "'" + function.getName() + "' holds inline assembly");
  }
}

annudf::HookWidths widthsOf(const annudf::runtime::MetricView &metric) {
  return metric.artifact.manifest.hookWidths();
}

/// Whether the scan of Scan.cpp calls the hook. No default: a new hook has to say so here.
bool isCalled(ScanHook hook) {
  switch (hook) {
  case ScanHook::INIT:
  case ScanHook::UPDATE:
  case ScanHook::FINALIZE:
  case ScanHook::CONTRACT:
    return true;
  case ScanHook::COMBINE:
    return false; // Whatever its prototype, it goes with what nothing calls.
  }
  llvm_unreachable("a hook that annudf_abi.h does not have");
}

/// A function of the ABI that code of this metric, or filter, may define.
struct Hook {
  StringRef name;
  bool isDefined; ///< By what the manifest says.
  bool isCalled;  ///< By the scan of Scan.cpp, which then has its prototype.
};

std::vector<Hook> hooksOf(const annudf::runtime::MetricView &metric) {
  std::vector<Hook> hooks;
  const annudf::Manifest &manifest = metric.artifact.manifest;
  if (manifest.isFilter())
    annudf::forEachFilterHook([&](annudf::FilterHook, const char *symbol, auto) {
      hooks.push_back({symbol, true, true});
    });
  annudf::forEachPairwiseHook(
      manifest.computeWidth(), [&](annudf::PairwiseHook, const char *symbol, auto) {
        hooks.push_back({symbol, manifest.isPairwise(), manifest.isPairwise()});
      });
  // Those of other roles are stubs, and their code may define none of them.
  for (ScanHook hook : annudf::kScanHooks)
    hooks.push_back({symbolOf(hook, widthsOf(metric)),
                     manifest.role == ANNUDF_ROLE_SCAN && annudf::isDefinedBy(hook, manifest.hooks),
                     isCalled(hook)});
  return hooks;
}

/// Names carry the ABI's widths, so a definition can only be wrong in its types: the
/// linker would accept those silently.
void checkPrototypes(const Module &module, const Module &scan,
                     const annudf::runtime::MetricView &metric) {
  for (const auto &[name, isWanted, isCalled] : hooksOf(metric)) {
    const Function *expected = scan.getFunction(name);
    const Function *given = module.getFunction(name);
    if (!expected && isCalled)
      throw annudf::Error(ErrorKind::Environment,
                          "the CPU backend's own scan bitcode does not call " + name.str());
    const bool isDefined = given && !given->isDeclaration();
    if (!isWanted) {
      if (isDefined)
        refuse(metric, "hook " + name + " is not in the manifest's list of hooks");
      continue;
    }
    if (!isDefined)
      refuse(metric, "hook " + name + " is missing");
    if (!expected)
      continue;
    if (given->hasLocalLinkage())
      refuse(metric, "hook " + name + " is not visible");
    if (given->getFunctionType() != expected->getFunctionType())
      refuse(metric, "hook " + name + " is " + toText(*given->getFunctionType()) +
                         ", the scan calls " + toText(*expected->getFunctionType()));
    if (given->getCallingConv() != expected->getCallingConv())
      refuse(metric, "hook " + name + " has another calling convention than C");
  }
}

/// The descriptor that the code was made for, by its number.
uint64_t contractOfCode(const Module &module, const annudf::runtime::MetricView &metric) {
  const annudf::Manifest &manifest = metric.artifact.manifest;
  const Function *contract = module.getFunction(
      manifest.isFilter()     ? symbolOf(annudf::FilterHook::CONTRACT)
      : manifest.isPairwise() ? symbolOf(annudf::PairwiseHook::CONTRACT, manifest.computeWidth())
                              : symbolOf(ScanHook::CONTRACT, widthsOf(metric)));
  const auto *result = dyn_cast<ReturnInst>(contract->front().getTerminator());
  const auto *number = result ? dyn_cast<ConstantInt>(result->getReturnValue()) : nullptr;
  if (!number || contract->size() != 1)
    refuse(metric, contract->getName() + " does not return a constant");
  return number->getZExtValue();
}

/// Puts the number where the scan asks for it, before anything is optimised: copies of the hook
/// for other elements or tiles should not be inlined first.
void defineConstant(Module &module, StringRef name, int32_t value) {
  Function *function = module.getFunction(name);
  if (!function)
    return; // Not called, so not needed.
  for (User *user : make_early_inc_range(function->users()))
    if (auto *call = dyn_cast<CallInst>(user)) {
      call->replaceAllUsesWith(ConstantInt::get(call->getType(), value));
      call->eraseFromParent();
    }
  function->eraseFromParent();
}

/// Code for the host, whatever the two bitcodes were compiled for.
void setHostAttributes(Module &module, TargetMachine &target) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.removeFnAttr(Attribute::OptimizeNone);
    function.removeFnAttr(Attribute::NoInline);
    function.removeFnAttr("tune-cpu");
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    if (isHookName(function.getName()))
      function.addFnAttr(Attribute::AlwaysInline);
  }
}

/// What the compiler says that may keep rows from being lanes (SlowRows.cpp); "" where it says
/// nothing.
std::string slowRowsOf(const Module &hooks) {
  const GlobalVariable *told = hooks.getNamedGlobal(annudf::kSlowRowsSymbol);
  const auto *text = told ? dyn_cast<ConstantDataSequential>(told->getInitializer()) : nullptr;
  return text && text->isString() ? annudf::printable(text->getAsString().str()) : "";
}

std::string optimise(Module &module, TargetMachine &target, bool vectorMath, bool anyWidth) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  TargetLibraryInfoImpl library(module.getTargetTriple(),
                                vectorMath ? VectorLibrary::LIBMVEC : VectorLibrary::NoLibrary);
  if (vectorMath)
    annudf::runtime::cpu::addVectorMath(library, target);
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.SLPVectorization = false; // The rows of a group are the lanes; there is nothing else.
  PassInstrumentationCallbacks instrumentation;
  annudf::runtime::cpu::keepRowLoopsWhole(instrumentation);
  PassBuilder builder(&target, tuning, std::nullopt, &instrumentation);
  std::string remark;
  builder.registerVectorizerStartEPCallback([&](FunctionPassManager &passes, OptimizationLevel) {
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(annudf::runtime::cpu::UnswitchRowLoops());
    if (anyWidth)
      passes.addPass(annudf::runtime::cpu::WidenRowLoops());
  });
  builder.registerVectorizerEndEPCallback([&](FunctionPassManager &passes, OptimizationLevel) {
    passes.addPass(annudf::runtime::cpu::RemarkRowLoops(remark));
    passes.addPass(annudf::runtime::cpu::UnrollVectorLoops());
    passes.addPass(LoopUnrollPass(LoopUnrollOptions(3, /*OnlyWhenForced=*/true)));
    passes.addPass(SROAPass(SROAOptions::PreserveCFG));
    passes.addPass(EarlyCSEPass());
    passes.addPass(InstCombinePass());
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(annudf::runtime::cpu::HoistGathers());
    passes.addPass(SimplifyCFGPass());
  });
  annudf::runtime::cpu::keepRowLoops(module);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
  return remark;
}

/// Rows held in registers: two vectors a query on a register file of 16, with the
/// scan's tile of four queries; wide accumulators, and each field, take as many again.
int32_t rowsInRegisters(unsigned bits, const annudf::Manifest &manifest) {
  const bool isWide = manifest.accumulatorWidth() == 64, isStruct = !manifest.fields.empty();
  if (bits >= 512)
    return isStruct ? 16 : 32;
  return bits >= 256 && !isWide && !isStruct ? 16 : 8;
}

/// Queries a tile. A body of many instructions gains nothing from a group read once for
/// several queries, and each query of a tile is a copy of it that takes its time to optimise.
int32_t queriesOfTile(const Module &metric) {
  constexpr unsigned kLargeBodyInstructions = 256;
  unsigned instructions = 0;
  for (const Function &function : metric)
    instructions += function.getInstructionCount();
  return instructions > kLargeBodyInstructions ? 1 : 4;
}

} // namespace

namespace annudf::runtime::cpu {

const char *scanEntryName(const MetricView &metric) {
  const annudf::HookWidths widths = widthsOf(metric);
#define ANNUDF_X(F, A, X)                                                                          \
  if (widths == annudf::HookWidths{A, X, static_cast<annudf::AccumulatorForm>((#F)[0])})           \
    return "annudf_cpu_scan_" #F #A "_x" #X;
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  throw Error(ErrorKind::Input, metric.origin + ": no hooks have accumulators of " +
                                    std::to_string(widths.accumulator) + " and coordinates of " +
                                    std::to_string(widths.coordinate) + " bits");
}

StringRef scanBitcode() {
  return {reinterpret_cast<const char *>(kScanBitcode), sizeof(kScanBitcode)};
}

std::vector<std::string> scanOptions(bool vectorMath) {
  return {"-O3", "rows as lanes", "width by hooks", vectorMath ? "libmvec" : "no vector math"};
}

bool isAllowedExternal(StringRef name) {
  // libmvec's names: _ZGV, the instruction set and lanes, then _ and the scalar name.
  if (name.consume_front("_ZGV"))
    name = name.split('_').second;
  StringRef scalar = name;
  static constexpr StringLiteral kMath[] = {
      "acos",  "acosh",     "asin",  "asinh", "atan", "atan2",     "atanh", "cbrt",
      "ceil",  "copysign",  "cos",   "cosh",  "erf",  "erfc",      "exp",   "exp10",
      "exp2",  "expm1",     "fabs",  "floor", "fma",  "fmax",      "fmin",  "fmod",
      "ldexp", "log",       "log10", "log1p", "log2", "nearbyint", "pow",   "rint",
      "round", "roundeven", "sin",   "sinh",  "sqrt", "tan",       "tanh",  "trunc"};
  static constexpr StringLiteral kSupport[] = {"memcpy", "memmove", "memset"};
  for (StringRef known : kMath)
    if (scalar == known || (scalar.ends_with("f") && scalar.drop_back() == known))
      return true;
  return is_contained(kSupport, name) ||
         any_of(compilerRoutines(), [&](const Routine &routine) { return name == routine.name; });
}

std::unique_ptr<Module> linkScan(LLVMContext &context, TargetMachine &target,
                                 const MetricView &metric, ScanElements elements, bool vectorMath,
                                 const ScanTarget &host, std::string *remark) {
  auto handler = std::make_unique<CollectErrors>();
  const std::string &errors = handler->text;
  context.setDiagnosticHandler(std::move(handler)); // Lives as long as the context.
  const StringRef entry = scanEntryName(metric);
  std::unique_ptr<Module> scan = readScan(context, entry, accessorsOf(metric));
  std::unique_ptr<Module> hooks = readMetric(context, metric);
  scan->setTargetTriple(target.getTargetTriple());
  scan->setDataLayout(target.createDataLayout());
  checkContents(*hooks, *scan, metric);
  checkPrototypes(*hooks, *scan, metric);
  checkContract(metric, contractOfCode(*hooks, metric));
  hooks->setTargetTriple(scan->getTargetTriple());
  hooks->setDataLayout(scan->getDataLayout());

  settleArithmetic(*hooks, target);

  const annudf::Manifest &manifest = metric.artifact.manifest;
  const int32_t tile = manifest.isPairwise() ? 1 : queriesOfTile(*hooks);
  const std::string slowRows = slowRowsOf(*hooks);
  const unsigned usual = usualBits(target);
  const bool anyWidth = isSameAtAnyWidth(*hooks);
  unsigned bits = host.vectorBits;
  if (bits == 0)
    bits = anyWidth ? vectorBits(target) : usual;
  if (Linker::linkModules(*scan, std::move(hooks)))
    refuse(metric, oneLine(errors));
  defineStubs(*scan, metric);
  defineConstant(*scan, "annudf1_row_element", elements.rows);
  defineConstant(*scan, "annudf1_query_element", elements.queries);
  defineConstant(*scan, "annudf1_compute", manifest.compute);
  defineConstant(*scan, "annudf_cpu_order", manifest.order);
  defineConstant(*scan, "annudf_cpu_dims", manifest.dims);
  defineConstant(*scan, "annudf_cpu_rows", rowsInRegisters(bits, manifest));
  defineConstant(*scan, "annudf_cpu_tile", tile);
  defineConstant(*scan, "annudf_cpu_whole", manifest.isPairwise());
  defineConstant(*scan, "annudf_cpu_updates", !manifest.isFilter());
  defineConstant(*scan, "annudf_cpu_finalizes", manifest.form && manifest.form->lengths ? 1 : 0);
  defineConstant(*scan, "annudf_cpu_explains", host.explains);
  internalizeModule(*scan, [&](const GlobalValue &value) { return value.getName() == entry; });
  setHostAttributes(*scan, target);
  if (bits != usual)
    setVectorBits(*scan, bits);
  markMathPure(*scan);
  const std::string said = optimise(*scan, target, vectorMath, anyWidth);
  if (remark)
    *remark = said.empty() || slowRows.empty() ? said : "computed one row at a time: " + slowRows;
  if (!errors.empty())
    refuse(metric, oneLine(errors));
  return scan;
}

} // namespace annudf::runtime::cpu
