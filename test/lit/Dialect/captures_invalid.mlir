// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// Captures, their values and loads.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [C1] has no name; give it one}}
  %w = annudf.capture "" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C2] has a value of type 'f64', which does not fit '!annudf.capture<f32>'; write a number of type 'f32'}}
  %w = annudf.capture "w" = 1.0 : f64 : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C3] has a value of type 'tensor<2xf64>', which does not fit '!annudf.capture<dim x f32>'; write dense<[...]> with one tensor dimension an extent}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf64> : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [C3] has a value of type 'tensor<2x2xf32>', which does not fit '!annudf.capture<dim x f32>'; write dense<[...]> with one tensor dimension an extent}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2x2xf32> : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [C3] has a value of type 'vector<2xf32>', which does not fit '!annudf.capture<dim x f32>'; write dense<[...]> with one tensor dimension an extent}}
  %w = annudf.capture "w" = dense<1.0> : vector<2xf32> : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [C3] has a value of type 'f32', which does not fit '!annudf.capture<dim x f32>'; write dense<[...]> with one tensor dimension an extent}}
  %w = annudf.capture "w" = 1.0 : f32 : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [C4] has a value of 2 entries for extent dim; the metric needs dims(2)}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf32> : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(3) {
  // expected-error @below {{'annudf.capture' op [C4] has a value of 2 entries for extent dim; the metric needs dims(2)}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf32> : !annudf.capture<dim x f32>
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
  // expected-error @below {{'annudf.capture' op [C5] has a value of 2 entries for extent 3; give it 3}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf32> : !annudf.capture<3 x f32>
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
  // expected-error @below {{'annudf.capture' op [C6] has a value, but extent row is not known before a search; drop the value and bind the array}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf32> : !annudf.capture<row x f32>
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
  // expected-error @below {{'annudf.capture' op [C6] has a value, but extent query is not known before a search; drop the value and bind the array}}
  %w = annudf.capture "w" = dense<1.0> : tensor<2xf32> : !annudf.capture<query x f32>
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
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op [L1] gives 0 indices for '!annudf.capture<dim x f32>'; give 1}}
    %v = annudf.load %w[] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op [L1] gives 1 index for '!annudf.capture<f32>'; give 0}}
    %v = annudf.load %w[%d] : !annudf.capture<f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op [L1] gives 1 index for '!annudf.capture<query x dim x f32>'; give 2}}
    %v = annudf.load %w[%d] : !annudf.capture<query x dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op failed to verify that result is the capture's element type, signless, or f32 of bf16}}
    %v = "annudf.load"(%w, %d) : (!annudf.capture<dim x f32>, index) -> f64
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op failed to verify that result is the capture's element type, signless, or f32 of bf16}}
    %v = "annudf.load"(%w, %d) : (!annudf.capture<dim x ui32>, index) -> ui32
    annudf.yield %acc : f32
  }
}

// -----

func.func private @f() {
  // expected-error @below {{'annudf.capture' op expects parent op to be one of 'annudf.metric, annudf.filter, annudf.function, annudf.pairwise'}}
  %w = annudf.capture "w" : !annudf.capture<f32>
  return
}
