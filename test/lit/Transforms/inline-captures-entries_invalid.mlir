// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='dims=3 values={w = dense<[1.0, 2.0]> : tensor<2xf32>}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I8] has a value of 2 entries, but the metric has 3 dimensions; give one entry a dimension}}
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I6] is an array of 'f64', but its value has type 'tensor<2xf32>'; write dense<[...]> : tensor<N x 'f64'>}}
  %w = annudf.capture "w" : !annudf.capture<dim x f64>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
