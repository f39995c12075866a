// RUN: annudf-opt %s --annudf-inline-captures="dims=4 values={p = 3.0 : f32, n = 5 : ui32, e = dense<2.0> : tensor<4xf32>, t = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}" | FileCheck %s
// The same in a pipeline, through the printed pipeline, and without braces.
// RUN: annudf-opt %s --pass-pipeline="builtin.module(annudf-verify-abi,annudf-inline-captures{dims=4 values={p = 3.0 : f32, n = 5 : ui32, e = dense<2.0> : tensor<4xf32>, t = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}},annudf-verify-abi)" | FileCheck %s
// RUN: annudf-opt %s --annudf-inline-captures="values={p = 3.0 : f32}" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: annudf-opt %s --annudf-inline-captures | FileCheck %s --check-prefix=NOTHING
// Only dims; only the scalar; an array larger than max-array whose entries are equal.
// RUN: annudf-opt %s --annudf-inline-captures=dims=7 | FileCheck %s --check-prefix=DIMS
// RUN: annudf-opt %s --annudf-inline-captures="dims=1000 max-array=1 values={e = dense<2.0> : tensor<1000xf32>}" | FileCheck %s --check-prefix=SPLAT

// DUMP: annudf-inline-captures{dims=0 max-array=64 values={p = 3.0 : f32}}

// CHECK-LABEL: annudf.metric @mixed order(min) coarse(l2) elements(f32) dims(4) {
// NOTHING-LABEL: annudf.metric @mixed order(min) coarse(l2) elements(f32) {
// DIMS-LABEL: annudf.metric @mixed order(min) coarse(l2) elements(f32) dims(7) {
// SPLAT-LABEL: annudf.metric @mixed order(min) coarse(l2) elements(f32) dims(1000) {
annudf.metric @mixed order(min) coarse(l2) elements(f32) {
  // What has no value keeps its order, which numbers the slots.
  // CHECK-NEXT: %[[A:.*]] = annudf.capture "a" : !annudf.capture<f32>
  // CHECK-NEXT: %[[T:.*]] = annudf.capture "t" = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32> : !annudf.capture<dim x f32>
  // CHECK-NEXT: %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
  // CHECK-NEXT: annudf.init
  // NOTHING-COUNT-6: annudf.capture "
  // NOTHING: annudf.init
  // SPLAT-NOT: annudf.capture "e"
  // SPLAT-COUNT-5: annudf.capture "
  // SPLAT-NEXT: annudf.init
  %a = annudf.capture "a" : !annudf.capture<f32>
  %p = annudf.capture "p" : !annudf.capture<f32>
  %e = annudf.capture "e" : !annudf.capture<dim x f32>
  %t = annudf.capture "t" : !annudf.capture<dim x f32>
  %n = annudf.capture "n" : !annudf.capture<ui32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    // CHECK-NEXT: %[[P0:.*]] = arith.constant 3.000000e+00 : f32
    // CHECK-NEXT: annudf.yield %[[P0]] : f32
    %p0 = annudf.load %p[] : !annudf.capture<f32>
    annudf.yield %p0 : f32
  }
  // CHECK: annudf.update
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // CHECK: %[[D:.*]] = annudf.index dim
    // CHECK-NEXT: %[[COUNT:.*]] = arith.constant 4 : index
    // DIMS: arith.constant 7 : index
    // DIMS-NOT: annudf.index dims
    // NOTHING: annudf.index dims
    %d = annudf.index dim
    %dims = annudf.index dims
    // CHECK-NEXT: %[[A0:.*]] = annudf.load %[[A]][] : !annudf.capture<f32>
    // CHECK-NEXT: %[[E0:.*]] = arith.constant 2.000000e+00 : f32
    // CHECK-NEXT: %[[T0:.*]] = annudf.load %[[T]][%[[D]]] : !annudf.capture<dim x f32>
    // CHECK-NEXT: %[[N0:.*]] = arith.constant 5 : i32
    // CHECK-NEXT: %[[W0:.*]] = annudf.load %[[W]][%[[D]]] : !annudf.capture<dim x f32>
    // DIMS-COUNT-5: annudf.load
    // SPLAT: arith.constant 2.000000e+00 : f32
    %a0 = annudf.load %a[] : !annudf.capture<f32>
    %e0 = annudf.load %e[%d] : !annudf.capture<dim x f32>
    %t0 = annudf.load %t[%d] : !annudf.capture<dim x f32>
    %n0 = annudf.load %n[] : !annudf.capture<ui32>
    %w0 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    // CHECK-NEXT: arith.uitofp %[[N0]] : i32 to f32
    %n1 = arith.uitofp %n0 : i32 to f32
    // CHECK-NEXT: arith.index_cast %[[COUNT]] : index to i32
    %dims1 = arith.index_cast %dims : index to i32
    %dims2 = arith.sitofp %dims1 : i32 to f32
    %s0 = arith.addf %a0, %e0 : f32
    %s1 = arith.addf %s0, %t0 : f32
    %s2 = arith.addf %s1, %n1 : f32
    %s3 = arith.addf %s2, %w0 : f32
    %s4 = arith.addf %s3, %dims2 : f32
    annudf.yield %s4 : f32
  }
}

// A metric in the same module without such captures is specialised for dims alone.
// CHECK-LABEL: annudf.metric @plain order(min) coarse(l2) elements(f32) dims(4) {
// NOTHING-LABEL: annudf.metric @plain order(min) coarse(l2) elements(f32) {
annudf.metric @plain order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
