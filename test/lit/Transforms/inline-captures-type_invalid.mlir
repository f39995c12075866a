// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-captures='values={p = 3.0}'

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [I4] is a scalar of type 'f32', but its value is 3.000000e+00 : f64; write it as a number of type 'f32'}}
  %p = annudf.capture "p" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [I3] has a value already; leave it out of values}}
  %p = annudf.capture "p" = 1.0 : f32 : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [I6] is an array of 'f32', but its value has type 'f64'; write dense<[...]> : tensor<N x 'f32'>}}
  %p = annudf.capture "p" : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [I5] of '!annudf.capture<row x f32>' cannot be baked in; only scalars and arrays with the one extent dim can}}
  %p = annudf.capture "p" : !annudf.capture<row x f32>
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
  // expected-error @below {{'annudf.capture' op [I5] of '!annudf.capture<dim x dim x f32>' cannot be baked in; only scalars and arrays with the one extent dim can}}
  %p = annudf.capture "p" : !annudf.capture<dim x dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
