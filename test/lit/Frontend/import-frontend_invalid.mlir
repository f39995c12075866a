// The rules P of docs/spec/rules.md on what may be emitted, each with its message.
// RUN: annudf-opt %s -split-input-file -verify-diagnostics -annudf-import-frontend

// What a frontend may not emit.
module {
  func.func private @f(%x: f32) -> f32 {
    // expected-error @below {{'llvm.mlir.zero' op [P1] cannot be imported; a frontend emits variables (memref.alloca, load, store), branches (cf.br, cf.cond_br, scf.if, scf.for), calls, and arith, math and annudf}}
    %0 = llvm.mlir.zero : !llvm.ptr
    // expected-error @below {{'scf.while' op [P1] cannot be imported}}
    %1 = scf.while (%a = %x) : (f32) -> f32 {
      %c = arith.cmpf olt, %a, %x : f32
      scf.condition(%c) %a : f32
    } do {
    ^bb0(%a: f32):
      scf.yield %a : f32
    }
    return %1 : f32
  }
}

// -----

module {
  // expected-error @below {{'builtin.module' op [P1] cannot be imported}}
  module @inner {
  }
}

// -----

func.func private @f(%x: f32) -> f32 {
  // expected-error @below {{'memref.alloc' op [P1] cannot be imported}}
  %0 = memref.alloc() : memref<1xf32>
  return %x : f32
}

// -----

func.func private @sin(f32) -> f32
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{[P2] calls 'sin', which has no body; a metric can call functions of its own module only}}
    %r = func.call @sin(%x) : (f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @even(%x: f32) -> f32 {
  // expected-error @below {{[P3] calls itself through 'odd'; a metric cannot recurse, use for over range()}}
  %0 = func.call @odd(%x) : (f32) -> f32
  return %0 : f32
}
func.func private @odd(%x: f32) -> f32 {
  %0 = func.call @even(%x) : (f32) -> f32
  return %0 : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @even(%x) : (f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// Each doubles what the next one is.
func.func private @f0(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.addf %1, %x : f32
  %3 = arith.mulf %2, %x : f32
  %4 = arith.addf %3, %x : f32
  %5 = arith.mulf %4, %x : f32
  %6 = arith.addf %5, %x : f32
  %7 = arith.mulf %6, %x : f32
  return %7 : f32
}
func.func private @f1(%x: f32) -> f32 {
  %0 = call @f0(%x) : (f32) -> f32
  %1 = call @f0(%0) : (f32) -> f32
  %2 = call @f0(%1) : (f32) -> f32
  %3 = call @f0(%2) : (f32) -> f32
  %4 = call @f0(%3) : (f32) -> f32
  %5 = call @f0(%4) : (f32) -> f32
  return %5 : f32
}
func.func private @f2(%x: f32) -> f32 {
  %0 = call @f1(%x) : (f32) -> f32
  %1 = call @f1(%0) : (f32) -> f32
  %2 = call @f1(%1) : (f32) -> f32
  %3 = call @f1(%2) : (f32) -> f32
  %4 = call @f1(%3) : (f32) -> f32
  %5 = call @f1(%4) : (f32) -> f32
  return %5 : f32
}
func.func private @f3(%x: f32) -> f32 {
  %0 = call @f2(%x) : (f32) -> f32
  %1 = call @f2(%0) : (f32) -> f32
  %2 = call @f2(%1) : (f32) -> f32
  %3 = call @f2(%2) : (f32) -> f32
  %4 = call @f2(%3) : (f32) -> f32
  %5 = call @f2(%4) : (f32) -> f32
  return %5 : f32
}
func.func private @f4(%x: f32) -> f32 {
  %0 = call @f3(%x) : (f32) -> f32
  %1 = call @f3(%0) : (f32) -> f32
  %2 = call @f3(%1) : (f32) -> f32
  %3 = call @f3(%2) : (f32) -> f32
  %4 = call @f3(%3) : (f32) -> f32
  %5 = call @f3(%4) : (f32) -> f32
  return %5 : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f4(%x) : (f32) -> f32
    %1 = func.call @f4(%0) : (f32) -> f32
    %2 = func.call @f4(%1) : (f32) -> f32
    // expected-error @below {{[P4] makes the metric larger than 32768 operations or 2048 blocks; call fewer helpers, or shorten the function}}
    %3 = func.call @f4(%2) : (f32) -> f32
    %4 = func.call @f4(%3) : (f32) -> f32
    %5 = func.call @f4(%4) : (f32) -> f32
    annudf.yield %5 : f32
  }
}

// -----

func.func private @f(%x: f32) -> f32 {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op [P5] is no cast of ctx; write a cast without operands to none, or one from none to a capture with annudf.capture = "name"}}
  %0 = builtin.unrealized_conversion_cast %x : f32 to i32
  // expected-error @below {{'builtin.unrealized_conversion_cast' op [P5] is no cast of ctx}}
  %1 = builtin.unrealized_conversion_cast to f32 {annudf.unassigned = "x"}
  %ctx = builtin.unrealized_conversion_cast to none
  // expected-error @below {{'builtin.unrealized_conversion_cast' op [P5] is no cast of ctx}}
  %2 = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<f32>
  return %x : f32
}

// -----

func.func private @f(%x: f32, %y: f32) -> f32 {
  // expected-error @below {{[P6] has a variable of type 'memref<4x4xf32>'; a metric's variables are numbers: f16, f32, f64, booleans and integers}}
  %0 = memref.alloca() : memref<4x4xf32>
  %n = arith.constant 3 : index
  // expected-error @below {{[P6] has a variable of type 'memref<?xf32>'}}
  %1 = memref.alloca(%n) : memref<?xf32>
  // expected-error @below {{[P6] has a variable of type 'memref<17xf32>'}}
  %2 = memref.alloca() : memref<17xf32>
  // expected-error @below {{[P6] has a variable of type 'memref<1xbf16>'}}
  %3 = memref.alloca() : memref<1xbf16>
  // expected-error @below {{[P6] has a variable of type 'memref<1xcomplex<f32>>'}}
  %4 = memref.alloca() : memref<1xcomplex<f32>>
  return %x : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: f32, %y: f32) -> f32 {
  %a = memref.alloca() : memref<2xf32>
  %b = memref.alloca() : memref<2xf32>
  %i = annudf.index dims
  // expected-error @below {{[P7] takes a variable's address; a metric cannot use lists and arrays of its own}}
  memref.store %x, %a[%i] : memref<2xf32>
  %two = arith.constant 2 : index
  // expected-error @below {{[P7] takes a variable's address}}
  memref.store %x, %b[%two] : memref<2xf32>
  return %x : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: f32, %y: f32) -> f32 {
  %a = memref.alloca() : memref<1xf32>
  // expected-error @below {{[P7] takes a variable's address}}
  cf.br ^next(%a : memref<1xf32>)
^next(%s: memref<1xf32>):
  %zero = arith.constant 0 : index
  %0 = memref.load %s[%zero] : memref<1xf32>
  return %0 : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: f32, %y: f32) -> f32 {
  // expected-error @below {{[P8] has a variable that is assigned inside scf.if or scf.for; branch with cf.br and cf.cond_br where variables are in memory}}
  %a = memref.alloca() : memref<1xf32>
  %zero = arith.constant 0 : index
  memref.store %x, %a[%zero] : memref<1xf32>
  %c = arith.cmpf olt, %x, %y : f32
  scf.if %c {
    memref.store %y, %a[%zero] : memref<1xf32>
  }
  %r = memref.load %a[%zero] : memref<1xf32>
  return %r : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: f32, %ctx: none) -> f32 {
  // expected-error @below {{[P9] ctx has no 'wieghts'; it has dim, dims, row, query, list, weights, p}}
  %w = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f32> {annudf.capture = "wieghts"}
  // expected-error @below {{[P10] takes ctx.weights as '!annudf.capture<dim x f64>', but it is declared as '!annudf.capture<dim x f32>'}}
  %v = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f64> {annudf.capture = "weights"}
  return %x : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "weights" : !annudf.capture<dim x f32>
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @f(%x, %ctx) : (f32, none) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: f32, %c: i1, %ctx: none) -> f32 {
  %w = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f32> {annudf.capture = "w"}
  %v = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f32> {annudf.capture = "v"}
  // expected-error @below {{[P11] takes ctx or a capture as a value; read a number from it with ctx.name or ctx.name[ctx.dim]}}
  %s = arith.select %c, %w, %v : !annudf.capture<dim x f32>
  %d = annudf.index dim
  %r = annudf.load %s[%d] : !annudf.capture<dim x f32>
  return %r : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %v = annudf.capture "v" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %c = arith.cmpf olt, %x, %y : f32
    %r = func.call @f(%x, %c, %ctx) : (f32, i1, none) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%c: i1, %ctx: none, %x: f32) -> f32 {
  // expected-error @below {{[P11] takes ctx or a capture as a value}}
  cf.br ^next(%ctx : none)
^next(%again: none):
  return %x : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %c = arith.cmpf olt, %x, %y : f32
    %r = func.call @f(%c, %ctx, %x) : (i1, none, f32) -> f32
    annudf.yield %r : f32
  }
}
