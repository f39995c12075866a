// Values of every kind of capture, and values that the module itself holds.
// RUN: annudf-opt %s --split-input-file --annudf-inline-captures | FileCheck %s

// CHECK-LABEL: annudf.metric @scalars
// CHECK-NOT: annudf.capture
annudf.metric @scalars order(min) coarse(l2) elements(f32) {
  %a = annudf.capture "a" = -0.0 : f32 : !annudf.capture<f32>
  %b = annudf.capture "b" = 0x7FF0000000000000 : f64 : !annudf.capture<f64>
  %c = annudf.capture "c" = -7 : i32 : !annudf.capture<i32>
  %d = annudf.capture "d" = 4294967295 : ui32 : !annudf.capture<ui32>
  %unused = annudf.capture "unused" = 1.0 : f32 : !annudf.capture<f32>
  annudf.init {
    // CHECK: arith.constant -0.000000e+00 : f32
    // CHECK: arith.constant 0x7FF0000000000000 : f64
    // CHECK: arith.constant -7 : i32
    // CHECK: arith.constant -1 : i32
    %0 = annudf.load %a[] : !annudf.capture<f32>
    %1 = annudf.load %b[] : !annudf.capture<f64>
    %2 = annudf.load %c[] : !annudf.capture<i32>
    %3 = annudf.load %d[] : !annudf.capture<ui32>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// Equal means equal bits: 0.0 and -0.0 are two values.
// CHECK-LABEL: annudf.metric @signed_zero
// CHECK-NEXT: annudf.capture "w" = dense<[0.000000e+00, -0.000000e+00]>
// CHECK-NEXT: annudf.init
annudf.metric @signed_zero order(min) coarse(l2) elements(f32) dims(2) {
  %w = annudf.capture "w" = dense<[0.0, -0.0]> : tensor<2xf32> : !annudf.capture<dim x f32>
  %v = annudf.capture "v" = dense<[1.0, 1.0]> : tensor<2xf32> : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // CHECK: annudf.load
    // CHECK-NEXT: arith.constant 1.000000e+00 : f32
    %d = annudf.index dim
    %0 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %1 = annudf.load %v[%d] : !annudf.capture<dim x f32>
    %2 = arith.mulf %0, %1 : f32
    annudf.yield %2 : f32
  }
}

// -----

// Narrow elements: as annudf.load gives them, a bf16 as the f32 of its value.
// CHECK-LABEL: annudf.metric @narrow
// CHECK-NOT: annudf.capture
annudf.metric @narrow order(min) coarse(l2) elements(f32) dims(2) {
  %a = annudf.capture "a" = 1.5 : bf16 : !annudf.capture<bf16>
  %b = annudf.capture "b" = -2.5 : f16 : !annudf.capture<f16>
  %c = annudf.capture "c" = true : !annudf.capture<i1>
  %d = annudf.capture "d" = 255 : ui8 : !annudf.capture<ui8>
  %e = annudf.capture "e" = 18446744073709551615 : ui64 : !annudf.capture<ui64>
  %f = annudf.capture "f" = dense<0.5> : tensor<2xbf16> : !annudf.capture<dim x bf16>
  annudf.init {
    // CHECK: arith.constant 1.500000e+00 : f32
    // CHECK: arith.constant -2.500000e+00 : f16
    // CHECK: arith.constant true
    // CHECK: arith.constant -1 : i8
    // CHECK: arith.constant -1 : i64
    %0 = annudf.load %a[] : !annudf.capture<bf16>
    %1 = annudf.load %b[] : !annudf.capture<f16>
    %2 = annudf.load %c[] : !annudf.capture<i1>
    %3 = annudf.load %d[] : !annudf.capture<ui8>
    %4 = annudf.load %e[] : !annudf.capture<ui64>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // CHECK: arith.constant 5.000000e-01 : f32
    %i = annudf.index dim
    %0 = annudf.load %f[%i] : !annudf.capture<dim x bf16>
    annudf.yield %0 : f32
  }
}
