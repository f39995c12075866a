// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=artifact

// Helpers.

// expected-error @below {{'func.func' op [F1] is public, but only metrics leave a module; write func.func private}}
func.func @h(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F1] is public, but only metrics leave a module; write func.func private}}
func.func nested @h(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F2] has no body, and nothing outside the module can be called; define it}}
func.func private @sinf(f32) -> f32

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F3] has 2 blocks; write branches with scf.if and loops with scf.for}}
func.func private @h() {
  llvm.br ^bb1
^bb1:
  return
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h(%a: f32) -> f32 {
  // expected-error @below {{'func.call' op [F4] closes a recursion through @h; helpers cannot call themselves, use scf.for}}
  %r = func.call @h(%a) : (f32) -> f32
  return %r : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

func.func private @top(%a: f32) -> f32 {
  %r = func.call @even(%a) : (f32) -> f32
  return %r : f32
}
func.func private @even(%a: f32) -> f32 {
  %r = func.call @odd(%a) : (f32) -> f32
  return %r : f32
}
func.func private @odd(%a: f32) -> f32 {
  // expected-error @below {{'func.call' op [F4] closes a recursion through @even; helpers cannot call themselves, use scf.for}}
  %r = func.call @even(%a) : (f32) -> f32
  return %r : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F5] carries attribute 'arg_attrs', which has no meaning for a helper; drop it}}
func.func private @h(%a: f32 {llvm.noundef}) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F5] carries attribute 'res_attrs', which has no meaning for a helper; drop it}}
func.func private @h(%a: f32) -> (f32 {llvm.noundef}) {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F5] carries attribute 'no_inline', which has no meaning for a helper; drop it}}
func.func private @h(%a: f32) -> f32 attributes {no_inline} {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F5] carries attribute 'passthrough', which has no meaning for a helper; drop it}}
func.func private @h(%a: f32) -> f32 attributes {passthrough = ["noinline"]} {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F6] has a name that is no C identifier or is reserved; use letters, digits and _, not beginning with a digit, annudf or __}}
func.func private @"a.b"(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F6] has a name that is no C identifier or is reserved; use letters, digits and _, not beginning with a digit, annudf or __}}
func.func private @annudf1_order(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F6] has a name that is no C identifier or is reserved; use letters, digits and _, not beginning with a digit, annudf or __}}
func.func private @__nv_expf(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F6] has a name that is no C identifier or is reserved; use letters, digits and _, not beginning with a digit, annudf or __}}
func.func private @"1st"(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h() -> index {
  // expected-error @below {{'annudf.index' op [F7] cannot stand in a helper; pass its result as an argument}}
  %d = annudf.index dims
  return %d : index
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [B2] has a value of type '!annudf.capture<f32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
func.func private @h(%w: !annudf.capture<f32>) -> f32 {
  // expected-error @below {{'annudf.load' op [F7] cannot stand in a helper; pass its result as an argument}}
  %v = annudf.load %w[] : !annudf.capture<f32>
  return %v : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'func.call' op [F8] carries attribute 'no_inline', which has no meaning for a call; drop it}}
    %v = func.call @h(%x) {no_inline} : (f32) -> f32
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h(%a: i32) -> i32 {
  // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from -2147483648 to 2147483647; divide by what cannot be 0, as max(y, 1), or in floating point}}
  %r = arith.divsi %a, %a : i32
  return %r : i32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
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
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'func.call' op 'missing' does not reference a valid function}}
    %v = func.call @missing(%x) : (f32) -> f32
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F9] returns 0 values; return one}}
func.func private @h(%a: f32) {
  return
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F9] returns 2 values; return one}}
func.func private @h(%a: f32) -> (f32, f32) {
  return %a, %a : f32, f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r:2 = func.call @h(%x) : (f32) -> (f32, f32)
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [F10] has a name of 256 bytes, more than 255; shorten it}}
func.func private @nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn(%x: f32) -> f32 {
  return %x : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
