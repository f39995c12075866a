// RUN: annudf-opt %s --annudf-to-host | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host --mlir-print-debuginfo | FileCheck %s --check-prefix=NONE

// Locations are the user's: what LLVM would read as debug information does not reach it.
// CHECK: llvm.fadd
// NONE-NOT: a.mlir
// NONE-NOT: di_
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32 loc("a.mlir":1:2)
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = arith.addf %x, %y : f32 loc(fused<#llvm.di_file<"a.mlir" in "b">>["a.mlir":3:4])
    annudf.yield %0 : f32
  }
}
