// Part of the annudf project. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dist's optimizer, with everything of annudf's.
#include "Dist.h"

#include <annudf/InitAll.h>

#include <mlir/Tools/mlir-opt/MlirOptMain.h>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  annudf::registerAllDialects(registry);
  registry.insert<dist::DistDialect>();
  annudf::registerAllPasses();
  dist::registerDistToAnnudfPass();
  dist::registerDistKernelsPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "dist optimizer\n", registry));
}
