//===- annudf-reduce.cpp - Makes a failing module small -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   annudf-reduce metric.mlir --annudf-reduce='test=./interesting.sh'
//
// The script gets a file and exits with 1 if it still shows what is looked for.
//
//===----------------------------------------------------------------------===//

#include "Reduce.h"

#include "annudf/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  annudf::registerAllDialects(registry);
  mlir::registerTransformsPasses(); // For --opt-reduction-pass.
  annudf::registerAllPasses();
  annudf::reduce::registerReducePass();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
