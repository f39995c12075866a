//===- PlainCode.cpp - Code of upstream's dialects, compiled for this machine ===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainCode.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace annudf::test;

struct PlainCode::Implementation {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

void PlainCode::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

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
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns), config);
}

PlainCode::PlainCode(ModuleOp module, bool optimize,
                     const std::function<void(llvm::Module &)> &edit)
    : implementation(new Implementation) {
  if (failed(lower(module))) {
    fault += "not lowered\n";
    return;
  }
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, *context, "plain");
  if (!code) {
    fault += "not translated\n";
    return;
  }
  if (edit)
    edit(*code);
  compile(std::move(code), std::move(context), optimize);
}

PlainCode::~PlainCode() = default;

void PlainCode::compile(std::unique_ptr<llvm::Module> code,
                        std::unique_ptr<llvm::LLVMContext> context, bool optimize) {
  static const bool ready =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  auto fail = [&](llvm::Error error) { fault += llvm::toString(std::move(error)) + "\n"; };
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!ready || !machine)
    return fail(machine.takeError());
  machine->setCodeGenOptLevel(optimize ? llvm::CodeGenOptLevel::Default
                                       : llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*machine)).create();
  if (!jit)
    return fail(jit.takeError());
  code->setDataLayout((*jit)->getDataLayout());
  auto symbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!symbols)
    return fail(symbols.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*symbols));
  if (llvm::Error error =
          (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(context))))
    return fail(std::move(error));
  implementation->jit = std::move(*jit);
}

void *PlainCode::find(const std::string &symbol) {
  if (!implementation->jit)
    return nullptr;
  auto found = implementation->jit->lookup(symbol);
  if (found)
    return found->toPtr<void *>();
  fault += llvm::toString(found.takeError()) + "\n";
  return nullptr;
}
