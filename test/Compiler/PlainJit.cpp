//===- PlainJit.cpp - Upstream's plain lowering of a body -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainJit.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace annudf::test;

struct PlainJit::Implementation {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

static LogicalResult lower(ModuleOp module) {
  MLIRContext *context = module.getContext();
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  RewritePatternSet structure(context);
  populateSCFToControlFlowConversionPatterns(structure);
  ConversionTarget flat(*context);
  flat.addIllegalDialect<scf::SCFDialect>();
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, flat, std::move(structure), config)))
    return failure();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns), config);
}

PlainJit::PlainJit(const std::string &text) : implementation(new Implementation) {
  static const bool ready =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects(); // What a pass would name as its dependencies.
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    fault += diagnostic.str() + "\n";
    return success();
  });
  auto fail = [&](const std::string &why) { fault += why + "\n"; };
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!ready || !module || failed(lower(*module))) {
    fail("not lowered");
    return;
  }
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*module, *llvmContext, "plain");
  if (!code) {
    fail("not translated");
    return;
  }
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine) {
    fail(llvm::toString(machine.takeError()));
    return;
  }
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*machine)).create();
  if (!jit) {
    fail(llvm::toString(jit.takeError()));
    return;
  }
  implementation->jit = std::move(*jit);
  code->setDataLayout(implementation->jit->getDataLayout());
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      implementation->jit->getDataLayout().getGlobalPrefix());
  if (!symbols) {
    fail(llvm::toString(symbols.takeError()));
    return;
  }
  implementation->jit->getMainJITDylib().addGenerator(std::move(*symbols));
  if (llvm::Error error = implementation->jit->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(code), std::move(llvmContext)))) {
    fail(llvm::toString(std::move(error)));
    return;
  }
  auto found = implementation->jit->lookup("plain");
  if (!found) {
    fail(llvm::toString(found.takeError()));
    return;
  }
  function = found->toPtr<float (*)(float, float, float, int64_t, int64_t)>();
}

PlainJit::~PlainJit() = default;
