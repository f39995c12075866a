//===- Optimize.h - What annudf-opt does with one input -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TOOLS_ANNUDFOPT_OPTIMIZE_H
#define ANNUDF_TOOLS_ANNUDFOPT_OPTIMIZE_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class DialectRegistry;
class MlirOptMainConfig;
} // namespace mlir

namespace annudf::opt {
/// Reads the input with annudf's care, part by part where it is split, and leaves the rest
/// to mlir-opt's own driver.
mlir::LogicalResult optimize(const std::string &input, const std::string &output,
                             mlir::DialectRegistry &registry,
                             const mlir::MlirOptMainConfig &config);
} // namespace annudf::opt

#endif // ANNUDF_TOOLS_ANNUDFOPT_OPTIMIZE_H
