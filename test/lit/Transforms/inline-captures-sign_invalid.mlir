// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='values={p = 3 : i32}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I4] is a scalar of type 'ui32', but its value is 3 : i32; write it as a number of type 'ui32'}}
  %p = annudf.capture "p" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
