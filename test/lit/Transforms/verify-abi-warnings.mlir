// What annudf-verify-abi warns of.
// RUN: annudf-opt %s --annudf-verify-abi --verify-diagnostics -o /dev/null

func.func private @first(%a: f32, %b: f32) -> f32 {
  func.return %a : f32
}

annudf.metric @last order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[H11] yields a value that does not depend on the accumulator, so only the last dimension counts; combine it with the accumulator}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %unused = arith.addf %acc, %x : f32
    %d = arith.subf %x, %y : f32
    %a = math.absf %d : f32
    annudf.yield %a : f32
  }
}

// Of one dimension the last is all.
annudf.metric @one order(min) coarse(l2) elements(f32) dims(1) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %x : f32
  }
}

// The accumulator decides, through a branch, a loop, a helper.
annudf.metric @branch order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf ogt, %acc, %x : f32
    %r = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    annudf.yield %r : f32
  }
}

annudf.metric @loop order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lo = arith.constant 0 : i32
    %hi = arith.constant 3 : i32
    %step = arith.constant 1 : i32
    %r = scf.for %i = %lo to %hi step %step iter_args(%s = %x) -> (f32) : i32 {
      %t = arith.addf %s, %acc : f32
      scf.yield %t : f32
    }
    annudf.yield %r : f32
  }
}

annudf.metric @helper order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @first(%acc, %x) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

annudf.metric @part order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.addf %acc, %x : f32
    annudf.yield %r : f32
  }
  // expected-warning @below {{[H14] yields a value that does not depend on both accumulators, so the dimensions of one are lost; join both}}
  annudf.combine (%a: f32, %b: f32) {
    %r = arith.mulf %b, %b : f32
    annudf.yield %r : f32
  }
}

annudf.metric @both order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.addf %acc, %x : f32
    annudf.yield %r : f32
  }
  annudf.combine (%a: f32, %b: f32) {
    %r = arith.mulf %b, %a : f32
    annudf.yield %r : f32
  }
}
