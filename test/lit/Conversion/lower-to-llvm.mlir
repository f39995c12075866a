// RUN: annudf-opt %s --annudf-lower-to-llvm | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(i8) accumulator(u32) {
  %w = annudf.capture "w" : !annudf.capture<dim x i32>
  annudf.init {
    %0 = arith.constant -1 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %0 = annudf.load %w[%d] : !annudf.capture<dim x i32>
    %1 = math.log1p %x : f32
    %2 = math.exp %y : f32
    %3 = arith.remf %1, %2 : f32
    %4 = arith.fptosi %3 : f32 to i32
    %5 = arith.minui %4, %0 : i32
    annudf.yield %5 : i32
  }
  annudf.finalize (%acc: i32) {
    %0 = arith.uitofp %acc : i32 to f32
    annudf.yield %0 : f32
  }
}

// One address space, libm instead of libdevice, no data layout.
// CHECK-NOT: data_layout
// CHECK-DAG: llvm.func @log1pf(f32) -> f32
// CHECK-DAG: llvm.func @fmodf(f32, f32) -> f32
// CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
// CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK: llvm.call @log1pf
// CHECK: llvm.call_intrinsic "llvm.exp"
// CHECK: llvm.call @fmodf
// CHECK: llvm.call_intrinsic "llvm.fptosi.sat"(%{{.*}}) : (f32) -> i32
// CHECK: llvm.intr.umin
// CHECK-LABEL: llvm.func @annudf1_scan_finalize_a32(
// CHECK: llvm.uitofp %{{.*}} : i32 to f32
