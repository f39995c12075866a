// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='dims=3 max-array=2 values={w = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I9] has a value of 3 entries, more than max-array=2; raise max-array, or bind the array at the search}}
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
