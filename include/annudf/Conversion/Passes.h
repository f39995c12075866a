//===- Passes.h - Lowerings of the annudf dialect -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CONVERSION_PASSES_H
#define ANNUDF_CONVERSION_PASSES_H

#include "annudf/ABI/TargetAbi.h"
#include "annudf/Dialect/IR/Annudf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace annudf {

#define GEN_PASS_DECL
#include "annudf/Conversion/Passes.h.inc"

/// registerConversionPasses() makes them known to a tool's command line.
#define GEN_PASS_REGISTRATION
#include "annudf/Conversion/Passes.h.inc"

/// `annudf-verify-abi`, simplification, `annudf-lower-to-nvvm`.
/// \param metric  as the pass's option.
/// \param target  whose functions the metric becomes.
void buildToNVVMPipeline(mlir::OpPassManager &manager, llvm::StringRef metric = "",
                         const CodeTarget &target = {});
/// `annudf-verify-abi`, simplification, `annudf-lower-to-llvm`.
void buildToHostPipeline(mlir::OpPassManager &manager, llvm::StringRef metric = "",
                         const CodeTarget &target = {});
/// Makes `annudf-to-nvvm` and `annudf-to-host` known to a tool's command line.
void registerConversionPipelines();

} // namespace annudf

#endif // ANNUDF_CONVERSION_PASSES_H
