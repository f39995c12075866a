// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.body: its parts and where it stands.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.body' op expects parent op 'annudf.function'}}
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.body' op [H9] has 2 blocks; write branches with scf.if and loops with scf.for}}
  annudf.body (%a: f32) {
    cf.br ^next
  ^next:
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.body' op [H2] has no value; end it with annudf.yield}}
  annudf.body (%a: f32) {
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.body' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.body (%a: f32) attributes {pure} {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.body' op [D4] takes 'f32', 'f32', but its function has 'f32'; take those}}
  annudf.body (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) () -> f32 {
  // expected-error @below {{'annudf.body' op [D4] takes 'f32', but its function has nothing; take those}}
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (ui32) -> ui32 {
  // expected-error @below {{'annudf.body' op [D4] takes 'ui32', but its function has 'i32'; take those}}
  annudf.body (%a: ui32) {
    annudf.yield %a : ui32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> i1 {
  // expected-error @below {{'annudf.body' op [D5] yields 'f32', but its function returns 'i1'; yield those}}
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.body' op requires zero results}}
  %r = "annudf.body"() ({
  ^bb0(%a: f32):
    annudf.yield %a : f32
  }) : () -> f32
}
