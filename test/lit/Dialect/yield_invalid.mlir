// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.yield: its parts and where it stands.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H6] yields 'f32', 'f32'; yield the accumulator's type, 'f32'}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    "annudf.yield"(%acc, %x) : (f32, f32) -> ()
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.yield' op requires zero results}}
    %r = "annudf.yield"(%acc) : (f32) -> f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.yield' op requires zero regions}}
    "annudf.yield"(%acc) ({
    }) : (f32) -> ()
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.yield' op [M15] carries attribute 'exact', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    annudf.yield %acc {exact} : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{invalid properties {exact} for op annudf.yield: this operation does not support properties}}
    "annudf.yield"(%acc) <{exact}> : (f32) -> ()
  }
}

// -----

// What follows it would never run.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.yield' op must be the last operation in the parent block}}
    annudf.yield %acc : f32
    %0 = arith.addf %x, %y : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.yield' op must be the last operation in the parent block}}
    annudf.yield %acc : f32
    annudf.yield %acc : f32
  }
}

// -----

// A branch has a value of its own.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf olt, %x, %y : f32
    scf.if %c {
      // expected-error @below {{'annudf.yield' op expects parent op to be one of 'annudf.init, annudf.update, annudf.finalize, annudf.combine, annudf.keep, annudf.body, annudf.distance'}}
      annudf.yield %acc : f32
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error @below {{'annudf.yield' op expects parent op to be one of 'annudf.init, annudf.update, annudf.finalize, annudf.combine, annudf.keep, annudf.body, annudf.distance'}}
      annudf.yield %acc : f32
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %c = annudf.capture "c" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.yield' op expects parent op to be one of 'annudf.init, annudf.update, annudf.finalize, annudf.combine, annudf.keep, annudf.body, annudf.distance'}}
  annudf.yield %c : !annudf.capture<f32>
}

// -----

// The value is of another type, of another hook, or none.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-note @-1 {{prior use here}}
    // expected-error @below {{use of value '%acc' expects different type than prior uses: 'f64' vs 'f32'}}
    annudf.yield %acc : f64
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %v = arith.addf %x, %y : f32
    annudf.yield %v : f32
  }
  annudf.finalize (%a: f32) {
    // expected-error @below {{use of undeclared SSA value name}}
    annudf.yield %v : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{expected ':'}}
    annudf.yield 1.0 : f32
  }
}
