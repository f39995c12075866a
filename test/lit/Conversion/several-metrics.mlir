// RUN: annudf-opt %s --annudf-lower-to-nvvm=metric=b | FileCheck %s
// RUN: annudf-opt %s "--annudf-to-host=metric=b" | FileCheck %s
// RUN: not annudf-opt %s --annudf-lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not annudf-opt %s --annudf-lower-to-llvm=metric=c 2>&1 | FileCheck %s --check-prefix=NONE

// WHICH: error: annudf-lower-to-nvvm: the module holds 2 metrics, so one must be named; there are a, b
// NONE: error: annudf-lower-to-llvm: the module holds no metric 'c'

annudf.metric @a order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 1.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
annudf.metric @b order(max) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %x : f32
  }
}

// CHECK-COUNT-1: llvm.func @annudf1_scan_init_a32
// CHECK: llvm.mlir.constant(0
// CHECK-NOT: llvm.func @annudf1_scan_init_a32
