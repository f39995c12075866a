//===- InitAll.cpp - All of annudf that a compiler registers --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/InitAll.h"

#include "annudf/Conversion/Passes.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

void annudf::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  // Kernels that call hooks are written in these.
  registry.insert<mlir::cf::ControlFlowDialect, mlir::gpu::GPUDialect, mlir::memref::MemRefDialect,
                  mlir::NVVM::NVVMDialect>();
  registerFrontendDialects(registry);
  mlir::func::registerInlinerExtension(registry);
}

void annudf::registerAllPasses() {
  // MLIR takes a pass that it knows already, but not a pipeline.
  [[maybe_unused]] static const bool once = [] {
    registerTransformsPasses();
    registerFrontendPasses();
    registerConversionPasses();
    registerConversionPipelines();
    return true;
  }();
}
