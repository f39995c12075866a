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

// The widths are part of every name.
// CHECK-LABEL: llvm.func @annudf1_scan_init_a64({{.*}}) -> i64
// CHECK-LABEL: llvm.func @annudf1_scan_update_a64_x64(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32,
// CHECK: llvm.bitcast %{{.*}} : i64 to f64
// CHECK-NOT: a32
