// RUN: annudf-opt %s --annudf-to-host | FileCheck %s

// Around a loop rows are no lanes, so a short one is unrolled; of a long one the branch stays, too.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c1000 = arith.constant 1000 : index
    %more = arith.cmpf ogt, %x, %y : f32
    // What is fused is what a GPU fuses: the product of one use, in each turn; not what one turn
    // hands to the next.
    // CHECK-COUNT-3: llvm.intr.fmuladd
    // CHECK-NOT: llvm.intr.fmuladd
    // CHECK: llvm.select
    // CHECK-NOT: llvm.intr.fmuladd
    %product = arith.mulf %x, %y : f32
    %a = scf.if %more -> f32 {
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%before = %acc) -> f32 {
        %inner = arith.addf %before, %product : f32
        %scaled = arith.mulf %inner, %x : f32
        scf.yield %scaled : f32
      }
      %last = arith.addf %sum, %y : f32
      scf.yield %last : f32
    } else {
      scf.yield %acc : f32
    }
    // CHECK: llvm.cond_br
    // CHECK: llvm.cond_br
    %b = scf.if %more -> f32 {
      %sum = scf.for %i = %c0 to %c1000 step %c1 iter_args(%before = %a) -> f32 {
        %inner = arith.addf %before, %x : f32
        scf.yield %inner : f32
      }
      scf.yield %sum : f32
    } else {
      scf.yield %a : f32
    }
    annudf.yield %b : f32
  }
}
