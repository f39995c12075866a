// The rules P of docs/abi.md, each with its message.
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
  return %3 : f32
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
  // expected-error @below {{[P9] ctx has no 'wieghts'; it has dim, dims, weights, p}}
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

// -----

// for i in range(8): if x > y: break
func.func private @f(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 8 : i32
  cf.br ^header(%zero, %x : i32, f32)
^header(%i: i32, %s: f32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i32
  %c = arith.cmpf ogt, %s, %y : f32
  // expected-error @below {{[P12] leaves a loop early: break and return make the number of iterations unknown; choose inside the loop with if}}
  cf.cond_br %c, ^end, ^rest
^rest:
  %t = arith.addf %s, %y : f32
  cf.br ^header(%next, %t : i32, f32)
^end:
  return %s : f32
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

// while True
func.func private @f(%x: f32, %y: f32) -> f32 {
  cf.br ^header(%x : f32)
^header(%s: f32):
  %t = arith.addf %s, %y : f32
  // expected-error @below {{[P13] repeats without an end; a metric's loops are for over range()}}
  cf.br ^header(%t : f32)
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

// range(int(x))
func.func private @f(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.fptosi %x : f32 to i32
  cf.br ^header(%zero, %y : i32, f32)
^header(%i: i32, %s: f32):
  %more = arith.cmpi slt, %i, %n : i32
  // expected-error @below {{[P14] repeats a number of times that is not known when the metric is compiled: range() needs constant bounds}}
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i32
  %t = arith.addf %s, %y : f32
  cf.br ^header(%next, %t : i32, f32)
^end:
  return %s : f32
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

// range(4097)
func.func private @f(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 4097 : i32
  cf.br ^header(%zero, %y : i32, f32)
^header(%i: i32, %s: f32):
  %more = arith.cmpi slt, %i, %n : i32
  // expected-error @below {{[P15] repeats more than 4096 times; split the work over the dimensions or shorten the loop}}
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i32
  %t = arith.addf %s, %y : f32
  cf.br ^header(%next, %t : i32, f32)
^end:
  return %s : f32
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

// Two entries to one cycle: no loop of Python's.
func.func private @f(%x: f32, %y: f32) -> f32 {
  %c = arith.cmpf olt, %x, %y : f32
  cf.cond_br %c, ^a(%x : f32), ^b(%y : f32)
^a(%s: f32):
  %t = arith.addf %s, %y : f32
  %d = arith.cmpf olt, %t, %y : f32
  // expected-error @below {{[P16] is part of a loop that is entered in its middle; a metric's loops are for over range()}}
  cf.cond_br %d, ^b(%t : f32), ^end(%s : f32)
^b(%u: f32):
  %v = arith.mulf %u, %y : f32
  %e = arith.cmpf olt, %v, %x : f32
  cf.cond_br %e, ^a(%v : f32), ^end(%u : f32)
^end(%r: f32):
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

// if x > y: s = x
// return s
func.func private @f(%x: f32, %y: f32) -> f32 {
  %s = memref.alloca() {annudf.variable = "s"} : memref<1xf32>
  %zero = arith.constant 0 : index
  %c = arith.cmpf ogt, %x, %y : f32
  cf.cond_br %c, ^a, ^end
^a:
  memref.store %x, %s[%zero] : memref<1xf32>
  cf.br ^end
^end:
  %r = memref.load %s[%zero] : memref<1xf32>
  // expected-error @below {{[P18] uses 's', which may be used before it is assigned; assign it on every path to here}}
  %t = arith.addf %r, %y : f32
  return %t : f32
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

// A loop that uses what only its earlier iterations assign, and a variable without a name.
func.func private @f(%x: f32, %y: f32) -> f32 {
  %i = memref.alloca() : memref<1xi32>
  %s = memref.alloca() : memref<1xf32>
  %at = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 3 : i32
  memref.store %zero, %i[%at] : memref<1xi32>
  cf.br ^header
^header:
  %now = memref.load %i[%at] : memref<1xi32>
  %more = arith.cmpi slt, %now, %n : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %now, %one : i32
  memref.store %next, %i[%at] : memref<1xi32>
  %old = memref.load %s[%at] : memref<1xf32>
  // expected-error @below {{[P18] uses a variable, which may be used before it is assigned}}
  %new = arith.addf %old, %x : f32
  memref.store %new, %s[%at] : memref<1xf32>
  cf.br ^header
^end:
  %r = memref.load %s[%at] : memref<1xf32>
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

annudf.metric @m order(min) coarse(l2) elements(i8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %one = arith.constant 1 : i32
    %n = arith.constant 32 : i32
    %c = arith.cmpi slt, %x, %y : i32
    %t = scf.if %c -> i32 {
      // expected-error @below {{[P19] shifts 'i32' by the number of its bits or more, which has no value; shift by less}}
      %s = arith.shli %one, %n : i32
      %u = arith.xori %s, %x : i32
      scf.yield %u : i32
    } else {
      scf.yield %y : i32
    }
    annudf.yield %t : i32
  }
}
