// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='dims=2147483648'

// expected-error @below {{'builtin.module' op [I12] cannot specialise for dims=2147483648; give a number from 1 to 1048576, or 0 to leave dims open}}
module {
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    %p = annudf.capture "p" : !annudf.capture<f32>
    %w = annudf.capture "w" : !annudf.capture<dim x f32>
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      annudf.yield %acc : f32
    }
  }
}
