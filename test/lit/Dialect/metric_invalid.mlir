// RUN: annudf-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// What a metric is made of.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'arith.constant' op [M1] cannot stand in a metric; only captures and hooks can, so move it into the hook that uses it}}
  %c = arith.constant 1.0 : f32
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M2] needs exactly one annudf.init, found 0; write one}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M2] needs exactly one annudf.init, found 2; keep one}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M3] needs exactly one annudf.update, found 0; write one}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M3] needs exactly one annudf.update, found 2; keep one}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M4] needs at most one annudf.finalize, found 2; keep one}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M5] needs at least one element type; list some in elements(...)}}
"annudf.metric"() <{coarse = #annudf.coarse<l2>, elements = [], order = #annudf.order<min>, sym_name = "m"}> ({
  "annudf.init"() ({
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }) : () -> ()
  "annudf.update"() ({
  ^bb0(%acc: f32, %x: f32, %y: f32):
    annudf.yield %acc : f32
  }) : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'annudf.metric' op [M6] lists element type f32 twice; list it once}}
annudf.metric @m order(min) coarse(l2) elements(f32, u8, f32) {
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
  %a = annudf.capture "w" : !annudf.capture<f32>
  // expected-error @below {{'annudf.capture' op [M7] "w" is declared twice; rename one}}
  %b = annudf.capture "w" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M8] is for 0 dimensions; dims must be positive}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(0) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M8] is for -3 dimensions; dims must be positive}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(-3) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M9] declares accumulator(u32), which does not fit the accumulator of annudf.update, 'f32'; change one}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(u32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M9] declares accumulator(f64), which does not fit the accumulator of annudf.update, 'f32'; change one}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(f64) {
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
  // expected-error @below {{'annudf.init' op [M10] yields 'f64', but the accumulator of annudf.update is 'f32'; yield that}}
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
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
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.finalize' op [M11] takes 'f64', but the accumulator of annudf.update is 'f32'; take that}}
  annudf.finalize (%acc: f64) {
    %0 = arith.truncf %acc : f64 to f32
    annudf.yield %0 : f32
  }
}

// -----

func.func private @f() {
  // expected-error @below {{'annudf.metric' op symbol's parent must have the SymbolTable trait}}
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      annudf.yield %acc : f32
    }
  }
  return
}

// -----

// expected-error @below {{'annudf.metric' op [M20] takes missing values, but lists element types without NaN only; list f32, f16 or bf16, or drop missing_values}}
annudf.metric @m order(min) coarse(l2) elements(i8, u8) missing_values {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// Whether a name is found in an op that nobody knows is unknown.
"foreign.module"() ({
  // expected-error @below {{'annudf.metric' op [T5] stands in 'foreign.module', where no name leads to it; move it to the top of a module, such as builtin.module or gpu.module}}
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      annudf.yield %acc : f32
    }
  }
}) : () -> ()
