//===- annudf-translate.cpp - From metrics to code of a target ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Tool.h"

#include "annudf/Target/Translate.h"

#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  annudf::tool::describe("annudf-translate");
  annudf::registerTranslations();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "annudf metric translator\n"));
}
