// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.finalize: its shape, its value and what surrounds it.

// A promise about the value, which nobody checks.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.finalize (%a: f32) attributes {pure} {
    annudf.yield %a : f32
  }
}

// -----

// Properties, of which hooks have none.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{invalid properties {k = 1 : i32} for op annudf.finalize: this operation does not support properties}}
  "annudf.finalize"() <{k = 1 : i32}> ({
  ^bb0(%a: f32):
    annudf.yield %a : f32
  }) : () -> ()
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op requires zero results}}
  %r = "annudf.finalize"() ({
  ^bb0(%a: f32):
    annudf.yield %a : f32
  }) : () -> f32
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  %c = annudf.capture "c" : !annudf.capture<f32>
  // expected-error @below {{'annudf.finalize' op requires zero operands}}
  "annudf.finalize"(%c) ({
  ^bb0(%a: f32):
    annudf.yield %a : f32
  }) : (!annudf.capture<f32>) -> ()
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op requires one region}}
  "annudf.finalize"() : () -> ()
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H9] has 2 blocks; write branches with scf.if and loops with scf.for}}
  annudf.finalize (%a: f32) {
    annudf.yield %a : f32
  ^bb1:
    annudf.yield %a : f32
  }
}

// -----

// Nothing at all, a block without operations, one without an end, and the end of a function.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H2] has no value; end it with annudf.yield}}
  "annudf.finalize"() ({
  }) : () -> ()
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H2] has no value; end it with annudf.yield}}
  "annudf.finalize"() ({
  ^bb0(%a: f32):
  }) : () -> ()
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H2] has no value; end it with annudf.yield}}
  annudf.finalize (%a: f32) {
    %v = arith.constant 1.0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H2] has no value; end it with annudf.yield}}
  annudf.finalize (%a: f32) {
    %v = arith.constant 1.0 : f32
    func.return %v : f32
  }
}

// -----

// expected-error @below {{'annudf.finalize' op expects parent op 'annudf.metric'}}
annudf.finalize (%a: f32) {
    annudf.yield %a : f32
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [M11] takes 'f32', 'f32', but the accumulator of annudf.update is 'f32'; take that}}
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H7] yields 'i32'; yield the distance as f32}}
  annudf.finalize (%a: f32) {
    %r = arith.fptosi %a : f32 to i32
    annudf.yield %r : i32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H7] yields 'i1'; yield the distance as f32}}
  annudf.finalize (%a: f32) {
    %r = arith.cmpf olt, %a, %a : f32
    annudf.yield %r : i1
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [M11] takes 'i32', but the accumulator of annudf.update is 'f32'; take that}}
  annudf.finalize (%a: i32) {
    %r = arith.sitofp %a : i32 to f32
    annudf.yield %r : f32
  }
}
