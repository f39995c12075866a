// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// Shapes and types of hooks.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H1] takes 0 arguments (), found 1}}
  annudf.init (%a: f32) {
    annudf.yield %a : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H1] takes 3 arguments (acc, x, y) or more, found 2}}
  annudf.update (%acc: f32, %x: f32) {
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
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [H1] takes 1 argument (acc) or more, found 0}}
  annudf.finalize {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [H2] has no value; end it with annudf.yield}}
  annudf.init {
    llvm.unreachable
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H3] has an accumulator of type 'f16'; use f32, f64, i32 or i64}}
  annudf.update (%acc: f16, %x: f32, %y: f32) {
    annudf.yield %acc : f16
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H3] has an accumulator of type 'i16'; use f32, f64, i32 or i64}}
  annudf.update (%acc: i16, %x: f32, %y: f32) {
    annudf.yield %acc : i16
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H3] has an accumulator of type 'ui32'; use f32, f64, i32 or i64}}
  annudf.update (%acc: ui32, %x: f32, %y: f32) {
    annudf.yield %acc : ui32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H4] takes x as 'f32' and y as 'f64'; give both one type}}
  annudf.update (%acc: f32, %x: f32, %y: f64) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H5] takes coordinates as 'f16'; use f32, f64 or i32}}
  annudf.update (%acc: f32, %x: f16, %y: f16) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H5] takes coordinates as 'vector<4xf32>'; use f32, f64 or i32}}
  annudf.update (%acc: f32, %x: vector<4xf32>, %y: vector<4xf32>) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [H6] yields 'f64'; yield the accumulator's type, 'f32'}}
  annudf.update (%acc: f32, %x: f64, %y: f64) {
    annudf.yield %x : f64
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f32, %y: f32) {
    annudf.yield %acc : f64
  }
  // expected-error @below {{'annudf.finalize' op [H7] yields 'f64'; yield the distance as f32}}
  annudf.finalize (%acc: f64) {
    annudf.yield %acc : f64
  }
}

// -----

"builtin.module"() ({
  "annudf.metric"() <{coarse = #annudf.coarse<l2>, elements = [#annudf.element<f32>], order = #annudf.order<min>, sym_name = "m"}> ({
    // expected-error @below {{'annudf.init' op [M10] yields nothing, but the accumulator of annudf.update is 'f32'; yield that}}
    "annudf.init"() ({
      "annudf.yield"() : () -> ()
    }) : () -> ()
    "annudf.update"() ({
    ^bb0(%acc: f32, %x: f32, %y: f32):
      "annudf.yield"(%acc) : (f32) -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'annudf.update' op expects parent op 'annudf.metric'}}
annudf.update (%acc: f32, %x: f32, %y: f32) {
  annudf.yield %acc : f32
}

// -----

func.func private @f(%a: f32) {
  // expected-error @below {{'annudf.yield' op expects parent op to be one of 'annudf.init, annudf.update, annudf.finalize, annudf.combine, annudf.keep, annudf.body, annudf.distance'}}
  annudf.yield %a : f32
}
