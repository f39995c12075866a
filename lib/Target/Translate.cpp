//===- Translate.cpp - From a metric to code of a target ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Target/Translate.h"

#include "annudf/ABI/Hooks.h"
#include "annudf/Conversion/Functions.h"
#include "annudf/Conversion/Passes.h"
#include "annudf/Frontend/Diagnostics.h"
#include "annudf/Frontend/Source.h"
#include "annudf/Target/DeviceBackend.h"
#include "annudf/Target/NVVMIR.h"
#include "annudf/Target/Nvptx.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace annudf;

void annudf::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<ir::AnnudfDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
  func::registerInlinerExtension(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

using PipelineBuilder = void (*)(OpPassManager &, StringRef, const CodeTarget &);

static std::unique_ptr<llvm::Module> lower(ModuleOp module, StringRef metric,
                                           const CodeTarget &target, PipelineBuilder build,
                                           llvm::LLVMContext &context) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  PassManager manager(module.getContext());
  build(manager, metric, target);
  if (failed(manager.run(*copy)))
    return nullptr;
  return translateModuleToLLVMIR(*copy, context, "metric");
}

FailureOr<std::string> annudf::translateToNvvmIr(ModuleOp module, StringRef metric,
                                                 const CodeTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      lower(module, metric, target, buildToNVVMPipeline, context);
  if (!lowered)
    return failure();
  auto text = emitNvvmIr(*lowered);
  if (!text)
    return emitError(module.getLoc()) << llvm::toString(text.takeError());
  return std::move(*text);
}

static std::string bitcodeOf(const llvm::Module &module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  llvm::WriteBitcodeToFile(module, os);
  return bytes;
}

FailureOr<std::string> annudf::translateToHostBitcode(ModuleOp module, StringRef metric,
                                                      StringRef triple, const CodeTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      lower(module, metric, target, buildToHostPipeline, context);
  if (!lowered)
    return failure();
  if (!triple.empty())
    lowered->setTargetTriple(llvm::Triple(triple));
  return bitcodeOf(*lowered);
}

FailureOr<std::string> annudf::translateToDeviceBitcode(ModuleOp module, StringRef metric,
                                                        const CodeTarget &target) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      lower(module, metric, target, buildToNVVMPipeline, context);
  if (!lowered)
    return failure();
  return bitcodeOf(*lowered);
}

/// Whether `ptx` defines what was asked for. The lowering has seen that one is meant.
static llvm::Error checkCode(StringRef ptx, ModuleOp module, StringRef metric,
                             const CodeTarget &target, bool hasCapture, const HookShape &shape) {
  if (target.isCuvsMetric())
    return checkCuvsPrototype(ptx, target.symbol, hasCapture);
  for (auto udf : module.getOps<ir::UdfOpInterface>())
    if (metric.empty() || udf.getSymName() == metric)
      if (llvm::Error error = checkDefinitions(ptx, udf, shape))
        return error;
  return llvm::Error::success();
}

FailureOr<std::string> annudf::translateToPtxByNvptx(ModuleOp module, StringRef metric,
                                                     const CodeTarget &target, int sm,
                                                     const HookShape &shape) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      lower(module, metric, target, buildToNVVMPipeline, context);
  if (!lowered)
    return failure();
  auto fail = [&](llvm::Error error) {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  const llvm::Function *function = lowered->getFunction(target.symbol);
  const bool hasCapture = function && function->arg_size() > 3;
  auto ptx = compileByNvptx(std::move(lowered), sm);
  if (!ptx)
    return fail(ptx.takeError());
  if (llvm::Error error = checkCode(*ptx, module, metric, target, hasCapture, shape))
    return fail(std::move(error));
  return std::move(*ptx);
}

llvm::Error annudf::checkDefinitions(StringRef ptx, ir::UdfOpInterface udf,
                                     const HookShape &shape) {
  if (auto function = dyn_cast<ir::FunctionOp>(udf.getOperation()))
    return checkFunctionPrototype(ptx, function.getSymName(), ptxPrototypeOf(function));
  return checkPrototypes(ptx, shape);
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

namespace {
/// Made when the translations are registered: a library should not add options to
/// every program that links it.
struct Options {
  llvm::cl::opt<std::string> arch{"arch", llvm::cl::desc("GPU architecture, sm_75 to sm_121"),
                                  llvm::cl::init("sm_75")};
  llvm::cl::opt<std::string> metric{
      "metric", llvm::cl::desc("Metric to translate, where the module holds several")};
  llvm::cl::opt<std::string> abi{"annudf-abi",
                                 llvm::cl::desc("ABI whose functions the metric becomes"),
                                 llvm::cl::init(ANNUDF_ABI_ID)};
  llvm::cl::opt<std::string> backend{
      "backend", llvm::cl::desc("Who makes PTX: libnvvm, or LLVM's nvptx without a CUDA toolkit"),
      llvm::cl::init(ANNUDF_LIBNVVM_NAME)};
  llvm::cl::opt<std::string> symbol{
      "symbol", llvm::cl::desc("Name of the function, where the ABI leaves it to the metric")};

  /// With a name for the function, which whoever reads the code back has to know.
  CodeTarget target(ModuleOp module) const {
    CodeTarget target{abi, symbol};
    auto udfs = module.getOps<ir::UdfOpInterface>();
    if (target.symbol.empty() && (!metric.empty() || llvm::hasSingleElement(udfs)))
      target.symbol =
          defaultSymbol(metric.empty() ? (*udfs.begin()).getSymName() : StringRef(metric));
    return target;
  }
};
} // namespace

/// The shape of what was lowered: there is no manifest to ask.
static HookShape shapeOf(StringRef ir, ModuleOp module) {
  auto defines = [&](ScanHook hook, HookWidths widths) {
    return ir.contains((llvm::Twine("@") + symbolOf(hook, widths) + "(").str());
  };
  HookShape shape;
  for (const LinkedFunction &function : linkedFunctionsOf(module))
    shape.externs.emplace_back(function.called, function.calledPrototype);
  shape.isFilter = ir.contains((llvm::Twine("@") + symbolOf(FilterHook::KEEP) + "(").str());
#define ANNUDF_X(F, A, X)                                                                          \
  if (const HookWidths widths{A, X, static_cast<AccumulatorForm>((#F)[0])};                        \
      defines(ScanHook::UPDATE, widths))                                                           \
    shape.widths = widths;
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  // One that is missing is left for checkPrototypes to tell.
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE)                                           \
  if (isRequired(ScanHook::NAME) || defines(ScanHook::NAME, shape.widths))                         \
    shape.hooks.push_back(ANNUDF_HOOK_##NAME);
  ANNUDF_HOOKS(ANNUDF_X)
#undef ANNUDF_X
  return shape;
}

static FailureOr<std::string> compile(ModuleOp module, const Options &options, DeviceCode kind) {
  auto fail = [&](llvm::Error error) {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  auto sm = parseSmVersion(options.arch);
  if (!sm)
    return fail(sm.takeError());
  const CodeTarget target = options.target(module);
  FailureOr<std::string> ir = translateToNvvmIr(module, options.metric, target);
  if (failed(ir))
    return failure();
  const std::optional<DeviceBackend> backend = parseDeviceBackend(options.backend.getValue());
  if (!backend)
    return emitError(module.getLoc())
           << "--backend=" << options.backend.getValue() << ": there is no such backend; there are "
           << kDeviceBackends;
  if (backend == DeviceBackend::Nvptx) {
    if (kind != DeviceCode::Ptx)
      return emitError(module.getLoc()) << "--backend=nvptx makes PTX; use --annudf-to-ptx";
    return translateToPtxByNvptx(module, options.metric, target, *sm, shapeOf(*ir, module));
  }
  auto nvvm = LibNvvm::load();
  if (!nvvm)
    return fail(nvvm.takeError());
  auto ptx = (*nvvm)->compile(*ir, *sm, DeviceCode::Prototypes);
  if (!ptx)
    return fail(ptx.takeError());
  if (llvm::Error error = checkCode(*ptx, module, options.metric, target,
                                    takesCapture(*ir, target.symbol), shapeOf(*ir, module)))
    return fail(std::move(error));
  auto code = (*nvvm)->compile(*ir, *sm, kind);
  if (!code)
    return fail(code.takeError());
  return std::move(*code);
}

void annudf::registerTranslations() {
  static Options options;
  using Translate = FailureOr<std::string> (*)(ModuleOp);
  auto add = [](StringRef name, StringRef description, Translate translate) {
    // Registered for files rather than operations, so that damaged ones are read with care.
    TranslateRegistration(
        name, description,
        [translate](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
                    MLIRContext *context) -> LogicalResult {
          DialectRegistry registry;
          registerCompilerDialects(registry);
          context->appendDialectRegistry(registry);
          context->loadAllAvailableDialects();
          context->printOpOnDiagnostic(false);
          const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
          context->getDiagEngine().registerHandler(
              ir::boundedHandler(buffer->getBuffer(), llvm::errs()));
          OwningOpRef<ModuleOp> module =
              ir::parseModule(buffer->getBuffer(), buffer->getBufferIdentifier(), context);
          if (!module)
            return failure();
          FailureOr<std::string> result = translate(*module);
          if (failed(result))
            return failure();
          os << *result;
          return success();
        });
  };
  add("annudf-to-nvvmir", "a metric as NVVM IR for every architecture", [](ModuleOp module) {
    return translateToNvvmIr(module, options.metric, options.target(module));
  });
  add("annudf-to-ltoir", "a metric as LTO-IR for --arch",
      [](ModuleOp module) { return compile(module, options, DeviceCode::LtoIr); });
  add("annudf-to-ptx", "a metric as PTX for --arch",
      [](ModuleOp module) { return compile(module, options, DeviceCode::Ptx); });
  add("annudf-to-device-bitcode", "a metric as LLVM bitcode of NVPTX", [](ModuleOp module) {
    return translateToDeviceBitcode(module, options.metric, options.target(module));
  });
  add("annudf-to-host-bitcode", "a metric as LLVM bitcode for the host", [](ModuleOp module) {
    return translateToHostBitcode(module, options.metric, "", options.target(module));
  });
}
