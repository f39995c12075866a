// What rapids.cuvs.ivf_flat.metric.v1 has a place for: a capture for dim, constants of any kind, other elements
// beside f32, a combine that nobody calls.
// RUN: annudf-opt %s --annudf-verify-abi=target=rapids.cuvs.ivf_flat.metric.v1 | FileCheck %s

// CHECK: annudf.metric @weighted
annudf.metric @weighted order(min) coarse(l2) elements(f32, i8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %1 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %2 = arith.subf %x, %y : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = math.fma %3, %1, %acc : f32
    annudf.yield %4 : f32
  }
}

// CHECK: annudf.metric @constants
annudf.metric @constants order(min) coarse(l2) elements(f32) numerics(reassociate) dims(4) {
  %p = annudf.capture "p" = 2.0 : f32 : !annudf.capture<f32>
  %t = annudf.capture "t" = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64> : !annudf.capture<dim x f64>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %0 = annudf.load %p[] : !annudf.capture<f32>
    %1 = annudf.load %t[%i] : !annudf.capture<dim x f64>
    %2 = arith.truncf %1 : f64 to f32
    %3 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %4 = arith.mulf %0, %2 : f32
    %5 = math.fma %4, %3, %acc : f32
    annudf.yield %5 : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %0 = arith.addf %acc, %other : f32
    annudf.yield %0 : f32
  }
}
