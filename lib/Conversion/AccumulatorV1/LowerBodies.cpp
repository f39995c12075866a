//===- LowerBodies.cpp - From arith, math and scf to the LLVM dialect -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "annudf/Conversion/Functions.h"
#include "annudf/Dialect/Transforms/AbiRules.h"

#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace annudf;
using namespace annudf::lowering;

/// What no pattern can refuse by name: types without a lowering, and ops that only
/// a module that skipped annudf-verify-abi can hold.
static LogicalResult checkBodies(ModuleOp module, const TargetInfo &target) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    if (!isa_and_present<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                         LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>(op->getDialect()))
      return op->emitOpError() << target.passName << ": has no lowering";
    for (Type type : op->getResultTypes())
      if (type.isBF16())
        return op->emitOpError() << target.passName << ": type bf16 has no lowering; use f32";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// \param exported  the one symbol of another ABI or of a device function; hooks have names of
/// theirs.
static void setAttributes(ModuleOp module, StringRef exported) {
  MLIRContext *context = module.getContext();
  auto none = LLVM::ModRefInfo::NoModRef;
  auto pure = LLVM::MemoryEffectsAttr::get(context, {none, none, none, none, none, none});
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    function.setNoUnwind(true);
    if (ArrayAttr names = function.getPassthroughAttr();
        names && llvm::is_contained(names, StringAttr::get(context, kLinkedAttribute)))
      continue; // What linked code does nobody verifies.
    if (function.isExternal() && function.getSymName().starts_with("annudf2_"))
      continue; // Reads coordinates; the scan defines it.
    if (function.isExternal()) {
      // libm and libdevice: errno is nobody's business here.
      function.setMemoryEffectsAttr(pure);
      function.setWillReturn(true);
      continue;
    }
    function.setAlwaysInline(true);
    const StringRef name = function.getSymName();
    if (exported.empty() ? !name.starts_with("annudf1_") && !name.starts_with("annudf2_")
                         : name != exported)
      function.setLinkage(LLVM::Linkage::Internal);
  }
}

/// The driver would fold what it cannot legalise at once, which is every op of a body.
static ConversionConfig withoutFolds() {
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return config;
}

LogicalResult annudf::lowering::lowerBodies(ModuleOp module, const TargetInfo &target) {
  if (failed(checkBodies(module, target)))
    return failure();
  MLIRContext *context = module.getContext();
  {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget legal(*context);
    legal.addIllegalDialect<scf::SCFDialect>();
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, legal, std::move(patterns), withoutFolds())))
      return failure();
  }
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateMathPatterns(converter, patterns, target);
  populateArithPatterns(converter, patterns);
  // Structure only: blocks, branches and the types of arguments.
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMFuncOpConversionPattern(converter, patterns);
  ConversionTarget legal(*context);
  legal.addLegalDialect<LLVM::LLVMDialect>();
  legal.addLegalOp<ModuleOp>();
  legal.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                          math::MathDialect>();
  return applyPartialConversion(module, legal, std::move(patterns), withoutFolds());
}

LogicalResult annudf::lowering::lowerMetric(ModuleOp module, StringRef name, TargetInfo target,
                                            LoweringCounts &counts) {
  if (failed(checkTargetAbi(module, target.code.abi)) || failed(verifyArtifactModule(module)))
    return failure();
  std::string exported;
  if (failed(target.code.isCuvsMetric() ? lowerToCuvsMetric(module, name, target, counts)
                                        : lowerHooks(module, name, target, counts, exported)) ||
      failed(lowerExterns(module, target)) || failed(lowerBodies(module, target)))
    return failure();
  setAttributes(module, target.code.isCuvsMetric() ? target.code.symbol : exported);
  // Locations are the user's, and may hold what LLVM would take for debug information.
  module->walk([&](Operation *op) { op->setLoc(UnknownLoc::get(module.getContext())); });
  Builder builder(module.getContext());
  module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                  builder.getStringAttr(target.triple));
  if (*target.dataLayout)
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                    builder.getStringAttr(target.dataLayout));
  return success();
}
