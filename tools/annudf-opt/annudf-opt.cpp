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
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

static bool asksForReproducer(int argc, char **argv) {
  return std::any_of(argv + 1, argv + argc, [](const char *argument) {
    return llvm::StringRef(argument).ltrim('-').starts_with("run-reproducer");
  });
}

int main(int argc, char **argv) {
  annudf::tool::describe("annudf-opt");
  mlir::DialectRegistry registry;
  annudf::registerAllDialects(registry);
  // A reproducer names its passes itself, and MLIR has some that write files: it has annudf's
  // alone.
  const bool hasOwnPassesOnly = asksForReproducer(argc, argv);
  if (!hasOwnPassesOnly)
    mlir::registerTransformsPasses();
  annudf::registerAllPasses();
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "annudf metric optimizer\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  if (config.shouldRunReproducer() && !hasOwnPassesOnly) {
    llvm::errs() << "--run-reproducer must stand in the command itself, not in a file of options\n";
    return 1;
  }
  return mlir::asMainReturnCode(annudf::opt::optimize(input, output, registry, config));
}
