// RUN: annudf-opt %s --annudf-to-nvvm | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf ogt, %x, %y : f32
    %r = scf.if %c -> f32 {
      %lo = arith.constant 0 : index
      %hi = arith.constant 3 : index
      %one = arith.constant 1 : index
      %s = scf.for %i = %lo to %hi step %one iter_args(%v = %acc) -> (f32) {
        %n = arith.addf %v, %x : f32
        scf.yield %n : f32
      }
      scf.yield %s : f32
    } else {
      scf.yield %y : f32
    }
    annudf.yield %r : f32
  }
}

// Structured control flow is branches between blocks; index is i64.
// CHECK-LABEL: @annudf1_scan_update_a32_x32
// CHECK-NOT: scf.
// CHECK: llvm.cond_br
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}} : i64
