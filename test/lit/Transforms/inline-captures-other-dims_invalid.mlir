// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='dims=4'

// expected-error @below {{'annudf.metric' op [I13] is for dims(3) and cannot be specialised for dims=4; leave dims out or write 3}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(3) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
