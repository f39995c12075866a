// RUN: annudf-opt %s --annudf-to-host | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %0 = arith.mulf %x, %y : f64
    %1 = arith.addf %acc, %0 : f64
    annudf.yield %1 : f64
  }
}

// The width is part of every name.
// CHECK-LABEL: llvm.func @annudf1_init_64({{.*}}) -> i64
// CHECK-LABEL: llvm.func @annudf1_update_64(%{{.*}}: i64, %{{.*}}: i32,
// CHECK: llvm.fpext %{{.*}} : f32 to f64
// CHECK-LABEL: llvm.func @annudf1_finalize_64(%{{.*}}: i64,
// CHECK: llvm.fptrunc %{{.*}} : f64 to f32
// CHECK-NOT: _32
