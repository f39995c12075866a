// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// Loops end, and hooks stay small.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lo = arith.constant 0 : index
    %hi = annudf.index dims
    %st = arith.constant 1 : index
    // expected-error @below {{'scf.for' op [S1] may run for ever; give it constant bounds and step, and choose inside the loop with scf.if or arith.select}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = annudf.index dim
    %hi = arith.constant 4 : index
    %st = arith.constant 1 : index
    // expected-error @below {{'scf.for' op [S1] may run for ever; give it constant bounds and step, and choose inside the loop with scf.if or arith.select}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant 0 : index
    %hi = arith.constant 4 : index
    %st = annudf.index dim
    // expected-error @below {{'scf.for' op [S1] may run for ever; give it constant bounds and step, and choose inside the loop with scf.if or arith.select}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant 0 : index
    %hi = arith.constant 4 : index
    %st = arith.constant 0 : index
    // expected-error @below {{'scf.for' op [S2] needs a positive step, got 0; count upwards}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant 0 : index
    %hi = arith.constant 4 : index
    %st = arith.constant -1 : index
    // expected-error @below {{'scf.for' op [S2] needs a positive step, got -1; count upwards}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant 0 : index
    %hi = arith.constant 4097 : index
    %st = arith.constant 1 : index
    // expected-error @below {{'scf.for' op [S3] runs 4097 times, more than 4096; split the work over the dimensions or shorten the loop}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant -9223372036854775808 : index
    %hi = arith.constant 9223372036854775807 : index
    %st = arith.constant 1 : index
    // expected-error @below {{'scf.for' op [S3] runs 9223372036854775807 times, more than 4096; split the work over the dimensions or shorten the loop}}
    scf.for %i = %lo to %hi step %st {
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
    %lo = arith.constant 0 : i32
    %hi = arith.constant -1 : i32
    %st = arith.constant 1 : i32
    // expected-error @below {{'scf.for' op [S3] runs 4294967295 times, more than 4096; split the work over the dimensions or shorten the loop}}
    scf.for unsigned %i = %lo to %hi step %st : i32 {
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
    %lo = arith.constant 0 : i8
    %hi = arith.constant 127 : i8
    %st = arith.constant 100 : i8
    // expected-error @below {{'scf.for' op [S4] counts past the largest 'i8', so it may run for ever; use a wider type or smaller bounds}}
    scf.for %i = %lo to %hi step %st : i8 {
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
    %lo = arith.constant 0 : i8
    %hi = arith.constant -1 : i8
    %st = arith.constant 100 : i8
    // expected-error @below {{'scf.for' op [S4] counts past the largest 'i8', so it may run for ever; use a wider type or smaller bounds}}
    scf.for unsigned %i = %lo to %hi step %st : i8 {
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
    %lo = arith.constant 0 : index
    %hi = arith.constant 9223372036854775807 : index
    %st = arith.constant 4611686018427387904 : index
    // expected-error @below {{'scf.for' op [S4] counts past the largest 'index', so it may run for ever; use a wider type or smaller bounds}}
    scf.for %i = %lo to %hi step %st {
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
  // expected-error @below {{'annudf.update' op [S5] weighs 4229 with its loops unrolled and its helpers inlined, more than 4096; shorten the loops, nest fewer or call fewer functions of math}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lo = arith.constant 0 : index
    %hi = arith.constant 64 : index
    %st = arith.constant 1 : index
    scf.for %i = %lo to %hi step %st {
      scf.for %j = %lo to %hi step %st {
      }
    }
    annudf.yield %acc : f32
  }
}

// -----

func.func private @twice(%a: f32) -> f32 {
  %lo = arith.constant 0 : index
  %hi = arith.constant 64 : index
  %st = arith.constant 1 : index
  scf.for %i = %lo to %hi step %st {
  }
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [S5] weighs 4549 with its loops unrolled and its helpers inlined, more than 4096; shorten the loops, nest fewer or call fewer functions of math}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lo = arith.constant 0 : index
    %hi = arith.constant 64 : index
    %st = arith.constant 1 : index
    scf.for %i = %lo to %hi step %st {
      %r = func.call @twice(%x) : (f32) -> f32
    }
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h0(%a: f32) -> f32 {
  return %a : f32
}
func.func private @h1(%a: f32) -> f32 {
  %0 = func.call @h0(%a) : (f32) -> f32
  %1 = func.call @h0(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h2(%a: f32) -> f32 {
  %0 = func.call @h1(%a) : (f32) -> f32
  %1 = func.call @h1(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h3(%a: f32) -> f32 {
  %0 = func.call @h2(%a) : (f32) -> f32
  %1 = func.call @h2(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h4(%a: f32) -> f32 {
  %0 = func.call @h3(%a) : (f32) -> f32
  %1 = func.call @h3(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h5(%a: f32) -> f32 {
  %0 = func.call @h4(%a) : (f32) -> f32
  %1 = func.call @h4(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h6(%a: f32) -> f32 {
  %0 = func.call @h5(%a) : (f32) -> f32
  %1 = func.call @h5(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h7(%a: f32) -> f32 {
  %0 = func.call @h6(%a) : (f32) -> f32
  %1 = func.call @h6(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h8(%a: f32) -> f32 {
  %0 = func.call @h7(%a) : (f32) -> f32
  %1 = func.call @h7(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h9(%a: f32) -> f32 {
  %0 = func.call @h8(%a) : (f32) -> f32
  %1 = func.call @h8(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h10(%a: f32) -> f32 {
  %0 = func.call @h9(%a) : (f32) -> f32
  %1 = func.call @h9(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h11(%a: f32) -> f32 {
  %0 = func.call @h10(%a) : (f32) -> f32
  %1 = func.call @h10(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @h12(%a: f32) -> f32 {
  %0 = func.call @h11(%a) : (f32) -> f32
  %1 = func.call @h11(%0) : (f32) -> f32
  return %1 : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [S5] weighs 16383 with its loops unrolled and its helpers inlined, more than 4096; shorten the loops, nest fewer or call fewer functions of math}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @h12(%x) : (f32) -> f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [S5] weighs 4097 with its loops unrolled and its helpers inlined, more than 4096; shorten the loops, nest fewer or call fewer functions of math}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lo = arith.constant 0 : index
    %hi = arith.constant 4092 : index
    %st = arith.constant 1 : index
    scf.for %i = %lo to %hi step %st {
    }
    annudf.yield %acc : f32
  }
}
