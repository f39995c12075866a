//===- Passes.td - Passes on what a frontend emits -*- tablegen -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_FRONTEND_PASSES_TD
#define ANNUDF_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportFrontendPass : Pass<"annudf-import-frontend", "::mlir::ModuleOp"> {
  let summary = "turns what a frontend emits into plain bodies";
  let description = [{
    A frontend writes the functions of a metric with branches between blocks and
    with variables in memory, and calls them from the hooks. This pass inlines the
    functions. It turns variables into values, branches into `scf.if` and `scf.for`,
    and uses of `ctx` into loads of captures. Floating-point arithmetic stays as it
    was written.

    `docs/spec/frontend-form.md` says what the pass reads. It refuses everything else at
    the location that the frontend gave, by a rule P of `docs/spec/rules.md`.
    `annudf-verify-abi` must still accept the result.

    Example, with `--annudf-import-frontend --annudf-verify-abi`:

    ```mlir
    func.func private @l1_update(%x: f32, %y: f32, %acc: f32, %ctx: none) -> f32 {
      %d = arith.subf %x, %y : f32
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf olt, %d, %zero : f32
      cf.cond_br %c, ^negative, ^positive
    ^negative:
      %n = arith.subf %acc, %d : f32
      return %n : f32
    ^positive:
      %p = arith.addf %acc, %d : f32
      return %p : f32
    }
    annudf.metric @l1 order(min) coarse(l2) elements(f32) {
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) {
        %ctx = builtin.unrealized_conversion_cast to none
        %r = func.call @l1_update(%x, %y, %acc, %ctx) : (f32, f32, f32, none) -> f32
        annudf.yield %r : f32
      }
    }
    ```
  }];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls inlined">,
    Statistic<"numSlots", "num-slots", "Number of variables in memory replaced by values">,
    Statistic<"numLoops", "num-loops", "Number of loops turned into scf.for">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // ANNUDF_FRONTEND_PASSES_TD
