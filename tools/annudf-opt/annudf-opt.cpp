//===- annudf-opt.cpp - Runs annudf passes on MLIR ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimize.h"

#include "annudf/Conversion/Passes.h"
#include "annudf/Dialect/IR/Annudf.h"
#include "annudf/Dialect/Transforms/Passes.h"
#include "annudf/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

static void printVersion(llvm::raw_ostream &os) {
  os << "annudf-opt " ANNUDF_VERSION "\nLLVM " LLVM_VERSION_STRING "\n";
}

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(printVersion);
  mlir::DialectRegistry registry;
  registry.insert<annudf::ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect>();
  annudf::registerFrontendDialects(registry);
  mlir::func::registerInlinerExtension(registry);
  mlir::registerTransformsPasses();
  annudf::registerTransformsPasses();
  annudf::registerFrontendPasses();
  annudf::registerConversionPasses();
  annudf::registerConversionPipelines();
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "annudf metric optimizer\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return mlir::asMainReturnCode(annudf::opt::optimize(input, output, registry, config));
}
