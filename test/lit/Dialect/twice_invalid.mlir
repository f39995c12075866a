// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What an op says twice.

// Upstream lets the second replace the first: this was order(max).
// expected-error @below {{custom op 'annudf.metric' [M18] has 'order' among its other attributes; say it once, in its own place}}
annudf.metric @m order(min) coarse(l2) elements(f32) attributes {order = #annudf.order<max>} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{custom op 'annudf.metric' [M18] has 'sym_name' among its other attributes; say it once, in its own place}}
annudf.metric @m order(min) coarse(l2) elements(f32) attributes {sym_name = "n"} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{custom op 'annudf.metric' [M18] has 'numerics' among its other attributes; say it once, in its own place}}
annudf.metric @m order(min) coarse(l2) elements(f32) attributes {numerics = #annudf.numerics<reassociate>} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// Also where the syntax could say it and does not.
// expected-error @below {{custom op 'annudf.metric' [M18] has 'dims' among its other attributes; say it once, in its own place}}
annudf.metric @m order(min) coarse(l2) elements(f32) attributes {dims = 3 : i32} {
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
  // expected-error @below {{custom op 'annudf.capture' [M18] has 'name' among its other attributes; say it once, in its own place}}
  %w = annudf.capture "w" {name = "v"} : !annudf.capture<f32>
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
  // expected-error @below {{custom op 'annudf.capture' [M18] has 'value' among its other attributes; say it once, in its own place}}
  %w = annudf.capture "w" = 1.0 : f32 {value = 2.0 : f32} : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// In the generic form, where the first would have won.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{invalid properties {name = "w"} for op annudf.capture: [M18] has 'name' among its other attributes; say it once, in its own place}}
  %w = "annudf.capture"() <{name = "w"}> {name = "v"} : () -> !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
