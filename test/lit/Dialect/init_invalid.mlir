// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.init: its shape, its value and what surrounds it.

// A promise about the value, which nobody checks.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.init attributes {pure} {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// Properties, of which hooks have none.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{invalid properties {k = 1 : i32} for op annudf.init: this operation does not support properties}}
  "annudf.init"() <{k = 1 : i32}> ({
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }) : () -> ()
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op requires zero results}}
  %r = "annudf.init"() ({
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }) : () -> f32
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %c = annudf.capture "c" : !annudf.capture<f32>
  // expected-error @below {{'annudf.init' op requires zero operands}}
  "annudf.init"(%c) ({
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }) : (!annudf.capture<f32>) -> ()
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op requires one region}}
  "annudf.init"() : () -> ()
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H9] has 2 blocks; write branches with scf.if and loops with scf.for}}
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  ^bb1:
    %1 = arith.constant 0.0 : f32
    annudf.yield %1 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// Nothing at all, a block without operations, one without an end, and the end of a function.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H2] has no value; end it with annudf.yield}}
  annudf.init {
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H2] has no value; end it with annudf.yield}}
  "annudf.init"() ({
  ^bb0:
  }) : () -> ()
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H2] has no value; end it with annudf.yield}}
  annudf.init {
    %v = arith.constant 1.0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H2] has no value; end it with annudf.yield}}
  annudf.init {
    %v = arith.constant 1.0 : f32
    func.return %v : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.init' op expects parent op 'annudf.metric'}}
annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H1] takes 0 arguments (), found 3}}
  annudf.init (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [M10] yields 'i32', but the accumulator of annudf.update is 'f32'; yield that}}
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %c = annudf.capture "c" : !annudf.capture<f32>
  // expected-error @below {{'annudf.init' op [M10] yields '!annudf.capture<f32>', but the accumulator of annudf.update is 'f32'; yield that}}
  annudf.init {
    annudf.yield %c : !annudf.capture<f32>
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    // expected-error @below {{'annudf.init' op expects parent op 'annudf.metric'}}
    annudf.init {
      %1 = arith.constant 0.0 : f32
      annudf.yield %1 : f32
    }
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
