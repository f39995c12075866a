// RUN: annudf-opt %s --annudf-lower-to-nvvm | FileCheck %s
// RUN: annudf-opt %s --annudf-lower-to-llvm | FileCheck %s

// Names that a lowering makes, and that the verifier keeps helpers from having: also without
// it nothing meets.
annudf.metric @annudf_body_update order(min) coarse(l2) elements(f32) dims(2) {
  %t = annudf.capture "annudf_table_0" = dense<[1.0, 2.0]> : tensor<2xf32> : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %w = annudf.load %t[%d] : !annudf.capture<dim x f32>
    %0 = func.call @f(%w) : (f32) -> f32
    %1 = func.call @annudf_helper_0_f(%0) : (f32) -> f32
    %2 = func.call @annudf1_scan_init_a32(%1) : (f32) -> f32
    %3 = func.call @annudf_table_0(%2) : (f32) -> f32
    %4 = annudf.load %t[%d] : !annudf.capture<dim x f32>
    %5 = arith.addf %3, %4 : f32
    annudf.yield %5 : f32
  }
}
func.func private @f(%v: f32) -> f32 {
  func.return %v : f32
}
func.func private @annudf_helper_0_f(%v: f32) -> f32 {
  func.return %v : f32
}
func.func private @annudf1_scan_init_a32(%v: f32) -> f32 {
  func.return %v : f32
}
func.func private @annudf_table_0(%v: f32) -> f32 {
  func.return %v : f32
}

// Helpers are inlined, so that none is left to be called.
// CHECK-COUNT-1: llvm.mlir.global internal constant @annudf_table_0
// CHECK-NOT: llvm.mlir.global
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.func internal
// CHECK: llvm.func @annudf1_scan_init_a32(
// CHECK-NOT: llvm.call
// CHECK: llvm.func @annudf1_scan_update_a32_x32(
// CHECK-NOT: llvm.call
// CHECK-NOT: llvm.func internal
