//===- Passes.td - Lowerings of the annudf dialect -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CONVERSION_PASSES_TD
#define ANNUDF_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

class Annudf_LoweringPass<string mnemonic> : Pass<mnemonic, "::mlir::ModuleOp"> {
  let options = [
    Option<"metric", "metric", "std::string", /*default=*/"\"\"",
           "Symbol name of the metric to lower; may be empty if the module holds only one">,
    Option<"target", "target", "std::string", /*default=*/"\"annudf.accumulator.v1\"",
           "ABI whose functions it becomes: annudf.accumulator.v1 or "
           "rapids.cuvs.ivf_flat.metric.v1">,
    Option<"symbol", "symbol", "std::string", /*default=*/"\"\"",
           "Name of the function of rapids.cuvs.ivf_flat.metric.v1; empty: annudf_metric_NAME">,
    Option<"form", "form", "bool", /*default=*/"true",
           "Prove the metric's quadratic form, which the contract of its code then counts">
  ];
  let statistics = [
    Statistic<"numSlots", "num-slots", "Number of captures that take a slot of the ABI">,
    Statistic<"numTables", "num-tables", "Number of captures that became a constant table">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"
  ];
}

def LowerToNVVMPass : Annudf_LoweringPass<"annudf-lower-to-nvvm"> {
  let summary = "lowers one metric to the hooks of the ABI, for libNVVM";
  let description = [{
    Replaces the module's metric by functions of the LLVM dialect that have exactly
    the names and prototypes of `annudf_abi.h`. Captures with a value become tables
    in constant memory; loads of all others go through the slots. An operation without
    an instruction becomes a call of libdevice. `docs/develop/lowering.md` has the rules.

    With `target=rapids.cuvs.ivf_flat.metric.v1` a metric that keeps rules R of
    `docs/spec/rules.md` becomes the one function of that ABI (`docs/use/device-udf.md`).

    Example:

    ```mlir
    annudf.metric @l1 order(min) coarse(l2) elements(f32) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %a = math.absf %d : f32
        %r = arith.addf %acc, %a : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
}

def LowerToLLVMPass : Annudf_LoweringPass<"annudf-lower-to-llvm"> {
  let summary = "lowers one metric to the hooks of the ABI, for the host";
  let description = [{
    As `annudf-lower-to-nvvm`, but with pointers of the host's one address space,
    LLVM's own intrinsics and calls of libm.

    Example:

    ```mlir
    annudf.metric @l1 order(min) coarse(l2) elements(f32) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %d = arith.subf %x, %y : f32
        %a = math.absf %d : f32
        %r = arith.addf %acc, %a : f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
}

#endif // ANNUDF_CONVERSION_PASSES_TD
