// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='values={p = 0x7F800000 : f32}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I10] has a value that is not finite; give finite numbers}}
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
