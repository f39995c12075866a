// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// Accumulators of several fields.

// The distance of several fields is nobody's guess.
// expected-error @below {{'annudf.metric' op [M19] has an accumulator of 2 fields, of which none is the distance; write annudf.finalize, which takes 'f32', 'f32' and yields f32}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
}

// -----

// Seven fields, and a hook that takes so many.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-error @below {{'annudf.update' op [H10] takes an accumulator of 7 fields; the ABI has 6 at most}}
  annudf.update (%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32, %g: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b, %c, %d, %e, %f, %g : f32, f32, f32, f32, f32, f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  // expected-error @below {{'annudf.finalize' op [H10] takes an accumulator of 7 fields; the ABI has 6 at most}}
  annudf.finalize (%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32, %g: f32) {
    annudf.yield %a : f32
  }
}

// -----

// Each field is one of the accumulators.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-error @below {{'annudf.update' op [H3] has an accumulator of type 'index'; use f32, f64, i32 or i64}}
  annudf.update (%a: f32, %b: index, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, index
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

// The last two are the coordinates: what looks like (acc, x, y) and a fourth has two fields.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-error @below {{'annudf.update' op [H4] takes x as 'f32' and y as 'i32'; give both one type}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: i32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

// Too few, too many, and others.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-error @below {{'annudf.update' op [H6] yields 'f32'; yield the accumulator's types, 'f32', 'f32'}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a : f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-error @below {{'annudf.update' op [H6] yields 'f32', 'f32', 'f32'; yield the accumulator's types, 'f32', 'f32'}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b, %x : f32, f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 0 : i32
    annudf.yield %0, %1 : f32, i32
  }
  // expected-error @below {{'annudf.update' op [H6] yields 'i32', 'f32'; yield the accumulator's types, 'f32', 'i32'}}
  annudf.update (%a: f32, %b: i32, %x: f32, %y: f32) {
    annudf.yield %b, %a : i32, f32
  }
  annudf.finalize (%a: f32, %b: i32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [M10] yields 'f32', but the accumulator of annudf.update is 'f32', 'f32'; yield that}}
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op [M10] yields nothing, but the accumulator of annudf.update is 'f32', 'f32'; yield that}}
  annudf.init {
    "annudf.yield"() : () -> ()
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  // expected-error @below {{'annudf.finalize' op [M11] takes 'f32', but the accumulator of annudf.update is 'f32', 'f32'; take that}}
  annudf.finalize (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// One distance, of f32.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  // expected-error @below {{'annudf.finalize' op [H7] yields 'f32', 'f32'; yield the distance as f32}}
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a, %b : f32, f32
  }
}

// -----

// The declaration lists every field, and no struct.
// expected-error @below {{'annudf.metric' op [M9] declares accumulator(f32, u32), which does not fit the accumulator of annudf.update, 'f32', 'f32'; change one}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(f32, u32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M9] declares accumulator(f32), which does not fit the accumulator of annudf.update, 'f32', 'f32'; change one}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{custom op 'annudf.metric' accumulator 'struct' is written as its fields, such as accumulator(f32, u32)}}
annudf.metric @m order(min) coarse(l2) elements(f32) accumulator(struct) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----

// In the generic form too: a struct, and a list of one.
// expected-error @below {{'annudf.metric' op [M9] declares accumulator(struct), which does not fit the accumulator of annudf.update, 'f32', 'f32'; change one}}
"annudf.metric"() <{accumulator = #annudf.accumulator<struct>, coarse = #annudf.coarse<l2>, elements = [#annudf.element<f32>], order = #annudf.order<min>, sym_name = "m"}> ({
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}) : () -> ()

// -----

// expected-error @below {{'annudf.metric' op attribute 'accumulator' failed to satisfy constraint: an accumulator, or an array of two or more}}
"annudf.metric"() <{accumulator = [#annudf.accumulator<f32>], coarse = #annudf.coarse<l2>, elements = [#annudf.element<f32>], order = #annudf.order<min>, sym_name = "m"}> ({
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}) : () -> ()
