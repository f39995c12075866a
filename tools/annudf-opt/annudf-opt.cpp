//===- annudf-opt.cpp - Runs annudf passes on MLIR ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Tool.h"
#include "Optimize.h"

#include "annudf/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  annudf::tool::describe("annudf-opt");
  mlir::DialectRegistry registry;
  annudf::registerAllDialects(registry);
  mlir::registerTransformsPasses();
  annudf::registerAllPasses();
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "annudf metric optimizer\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return mlir::asMainReturnCode(annudf::opt::optimize(input, output, registry, config));
}
