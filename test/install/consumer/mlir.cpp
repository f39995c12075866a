//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <annudf/Dialect/IR/Annudf.h>
#include <annudf/Dialect/Transforms/Passes.h>

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>

int main(int, char **argv) {
  mlir::MLIRContext context;
  context.loadDialect<annudf::ir::AnnudfDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  passes.addPass(annudf::createVerifyABIPass());
  if (mlir::failed(passes.run(*module)))
    return 2;
  module->walk([](annudf::ir::MetricOp metric) {
    llvm::outs() << "metric " << metric.getSymName() << "\n";
  });
}
