// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='values={w = dense<[1.0, 2.0]> : tensor<2xf32>}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I7] has one entry a dimension, so its value needs the number of dimensions; add dims=2}}
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
