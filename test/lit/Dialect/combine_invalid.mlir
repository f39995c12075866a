// annudf.combine: M23, M24, H12, H13, and what every hook obeys.
// RUN: annudf-opt %s --split-input-file --verify-diagnostics -o /dev/null

// Called where it may not be, a scan would add up in another order than it was told.
// expected-error @below {{'annudf.metric' op [M24] has annudf.combine, but takes its dimensions in one row; write numerics(reassociate), or drop annudf.combine}}
annudf.metric @strict order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// -----
// expected-error @below {{'annudf.metric' op [M23] needs at most one annudf.combine, found 2; keep one}}
annudf.metric @two order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
  annudf.combine (%a: f32, %b: f32) {
    annudf.yield %b : f32
  }
}

// -----
annudf.metric @once order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [H12] takes 'f32', but the accumulator of annudf.update is 'f32'; take that twice, 'f32', 'f32'}}
  annudf.combine (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----
// Fields of one accumulator, then those of the other: not in pairs.
annudf.metric @pairs order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 0 : i32
    annudf.yield %0, %1 : f32, i32
  }
  annudf.update (%acc: f32, %n: i32, %x: f32, %y: f32) {
    annudf.yield %acc, %n : f32, i32
  }
  // expected-error @below {{'annudf.combine' op [H12] takes 'f32', 'f32', 'i32', 'i32', but the accumulator of annudf.update is 'f32', 'i32'; take that twice, 'f32', 'i32', 'f32', 'i32'}}
  annudf.combine (%a: f32, %b: f32, %m: i32, %n: i32) {
    annudf.yield %a, %m : f32, i32
  }
  annudf.finalize (%acc: f32, %n: i32) {
    annudf.yield %acc : f32
  }
}

// -----
annudf.metric @nothing order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [H12] takes nothing, but the accumulator of annudf.update is 'f32'; take that twice, 'f32', 'f32'}}
  annudf.combine {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----
annudf.metric @wider order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [H13] yields 'f64', but the accumulator of annudf.update is 'f32'; yield that}}
  annudf.combine (%a: f32, %b: f32) {
    %r = arith.extf %a : f32 to f64
    annudf.yield %r : f64
  }
}

// -----
annudf.metric @novalue order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [H2] has no value; end it with annudf.yield}}
  annudf.combine (%a: f32, %b: f32) {
  }
}

// -----
// expected-error @below {{'annudf.combine' op expects parent op 'annudf.metric'}}
annudf.combine (%a: f32, %b: f32) {
  annudf.yield %a : f32
}

// -----
annudf.metric @promise order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [M15] carries attribute 'commutative', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.combine (%a: f32, %b: f32) attributes {commutative} {
    annudf.yield %a : f32
  }
}

// -----
annudf.metric @loops order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{'annudf.combine' op [H9] has 2 blocks; write branches with scf.if and loops with scf.for}}
  annudf.combine (%a: f32, %b: f32) {
    annudf.yield %a : f32
  ^second:
    annudf.yield %b : f32
  }
}

// -----
annudf.metric @typeless order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  // expected-error @below {{expected ':'}}
  annudf.combine (%a, %b) {
    annudf.yield %a : f32
  }
}
