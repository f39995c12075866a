// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='dims=2 values={w = dense<[1.0, 0x7FC00000]> : tensor<2xf32>}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I10] has a value that is not finite; give finite numbers}}
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
