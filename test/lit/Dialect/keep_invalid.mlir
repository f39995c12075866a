// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.keep: its shape, its value and what surrounds it.

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [K3] takes 1 argument, but a filter sees no coordinates; take none, and read annudf.index row}}
  annudf.keep (%x: f32) {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [K3] takes 2 arguments, but a filter sees no coordinates; take none, and read annudf.index row}}
  annudf.keep (%x: f32, %y: f32) {
    %close = arith.cmpf oeq, %x, %y : f32
    annudf.yield %close : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [K4] yields 'f32'; yield one i1, true where the row may be found}}
  annudf.keep {
    %one = arith.constant 1.0 : f32
    annudf.yield %one : f32
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [K4] yields 'i1', 'i1'; yield one i1, true where the row may be found}}
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true, %true : i1, i1
  }
}

// -----

annudf.filter @f {
  // A byte is not a truth value.
  // expected-error @below {{'annudf.keep' op [K4] yields 'i8'; yield one i1, true where the row may be found}}
  annudf.keep {
    %one = arith.constant 1 : i8
    annudf.yield %one : i8
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [H9] has 2 blocks; write branches with scf.if and loops with scf.for}}
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  ^bb1:
    %false = arith.constant false
    annudf.yield %false : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [H2] has no value; end it with annudf.yield}}
  "annudf.keep"() ({
  }) : () -> ()
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [H2] has no value; end it with annudf.yield}}
  annudf.keep {
    %true = arith.constant true
    func.return %true : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.keep attributes {pure} {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{invalid properties {k = 1 : i32} for op annudf.keep: this operation does not support properties}}
  "annudf.keep"() <{k = 1 : i32}> ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op requires zero results}}
  %r = "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> i1
}

// -----

annudf.filter @f {
  %c = annudf.capture "c" : !annudf.capture<f32>
  // expected-error @below {{'annudf.keep' op requires zero operands}}
  "annudf.keep"(%c) ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : (!annudf.capture<f32>) -> ()
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.keep' op requires one region}}
  "annudf.keep"() : () -> ()
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
  // expected-error @below {{'annudf.keep' op expects parent op 'annudf.filter'}}
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}
