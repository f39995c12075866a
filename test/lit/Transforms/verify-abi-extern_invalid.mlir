// RUN: annudf-opt %s --split-input-file --annudf-verify-abi --verify-diagnostics

// Names that a linker would take for something else, and code that is handed out without what it links.

// expected-error @below {{'annudf.extern' op [E8] has a name that is no C identifier or is reserved; use letters, digits and _, at most 510, not beginning with a digit, annudf or __}}
annudf.extern @annudf1_scan_init_a32 convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @annudf1_scan_init_a32(%x, %y) : (f32, f32) -> f32
    %t = arith.addf %acc, %r : f32
    annudf.yield %t : f32
  }
}

// -----

// expected-error @below {{'annudf.extern' op [E8] has a name that is no C identifier or is reserved; use letters, digits and _, at most 510, not beginning with a digit, annudf or __}}
annudf.extern @__nv_sqrtf convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @__nv_sqrtf(%x, %y) : (f32, f32) -> f32
    %t = arith.addf %acc, %r : f32
    annudf.yield %t : f32
  }
}

// -----

// expected-error @below {{'annudf.extern' op [E8] has a name that is no C identifier or is reserved; use letters, digits and _, at most 510, not beginning with a digit, annudf or __}}
annudf.extern @a.b convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @a.b(%x, %y) : (f32, f32) -> f32
    %t = arith.addf %acc, %r : f32
    annudf.yield %t : f32
  }
}

// -----

// expected-error @below {{'annudf.extern' op [E8] has a name that is no C identifier or is reserved; use letters, digits and _, at most 510, not beginning with a digit, annudf or __}}
annudf.extern @fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff(%x, %y) : (f32, f32) -> f32
    %t = arith.addf %acc, %r : f32
    annudf.yield %t : f32
  }
}

// -----

annudf.extern @f convention(c) (f32) -> f32 link(cuda_source "x")
func.func private @helper(%a: f32) -> f32 {
  // expected-error @below {{'annudf.call' op [D13] calls linked code, which a device function cannot contain; call 'f' outside it and pass the result as an argument}}
  %r = annudf.call @f(%a) : (f32) -> f32
  return %r : f32
}
annudf.function @g convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    %b = func.call @helper(%a) : (f32) -> f32
    // expected-error @below {{'annudf.call' op [D13] calls linked code, which a device function cannot contain; call 'f' outside it and pass the result as an argument}}
    %r = annudf.call @f(%b) : (f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// At the limit: the longest name, and a function beside a metric that links.
annudf.extern @ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff(%x, %y) : (f32, f32) -> f32
    %t = arith.addf %acc, %r : f32
    annudf.yield %t : f32
  }
}
annudf.function @g convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}
