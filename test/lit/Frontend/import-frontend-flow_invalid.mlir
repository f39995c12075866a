// The rules P of docs/spec/rules.md on loops and values, each with its message.
// RUN: annudf-opt %s -split-input-file -verify-diagnostics -annudf-import-frontend

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
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
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
