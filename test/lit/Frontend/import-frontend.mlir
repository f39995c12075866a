// What becomes of each part of the frontend form.
// RUN: annudf-opt %s -split-input-file -annudf-import-frontend -annudf-verify-abi | FileCheck %s
// RUN: annudf-opt %s -split-input-file -annudf-import-frontend -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: annudf-opt %s -split-input-file -annudf-import-frontend -verify-diagnostics


// Helpers are inlined, their ops keep their lines, and functions that nobody calls go.
// CHECK-LABEL: annudf.metric @helpers
// CHECK:         annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[X]], %[[Y]]
// CHECK-NEXT:      %[[C:.*]] = math.absf %[[D]]
// CHECK-NEXT:      %[[R:.*]] = arith.addf %[[ACC]], %[[C]]
// CHECK-NEXT:      annudf.yield %[[R]]
// CHECK-NOT:   func.func
// LOC-LABEL: annudf.metric @helpers
// LOC:         math.absf {{.*}} loc(#[[AT:.*]])
// LOC:       #[[AT]] = loc("helper.py":7:12)
func.func private @distance(%x: f32, %y: f32) -> f32 {
  %0 = arith.subf %x, %y : f32
  %1 = math.absf %0 : f32 loc("helper.py":7:12)
  return %1 : f32
}
func.func private @update(%x: f32, %y: f32, %acc: f32) -> f32 {
  %0 = call @distance(%x, %y) : (f32, f32) -> f32
  %1 = arith.addf %acc, %0 : f32
  return %1 : f32
}
func.func private @unused(%x: f32) -> f32 {
  %0 = call @unused(%x) : (f32) -> f32
  return %0 : f32
}
annudf.metric @helpers order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @update(%x, %y, %acc) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// Captures and dim, through casts to any integer that holds them.
// CHECK-LABEL: annudf.metric @context
// CHECK:         %[[W:.*]] = annudf.capture "weights"
// CHECK:         %[[P:.*]] = annudf.capture "p"
// CHECK:         annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK:           %[[DIM:.*]] = annudf.index dim
// CHECK:           %[[W1:.*]] = annudf.load %[[W]][%[[DIM]]]
// CHECK:           annudf.load %[[P]][]
// CHECK-NOT:       index_cast
// CHECK-NOT:       unrealized_conversion_cast
// CHECK:         annudf.finalize
// CHECK:           annudf.load %[[P]][]
func.func private @update(%x: f32, %y: f32, %acc: f32, %ctx: none) -> f32 {
  %w = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f32> {annudf.capture = "weights"}
  %d = annudf.index dim
  %d64 = arith.index_cast %d : index to i64
  %d32 = arith.trunci %d64 : i64 to i32
  %again = arith.extsi %d32 : i32 to i64
  %i = arith.index_cast %again : i64 to index
  %w1 = annudf.load %w[%i] : !annudf.capture<dim x f32>
  %p = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<f32> {annudf.capture = "p"}
  %p1 = annudf.load %p[] : !annudf.capture<f32>
  %0 = arith.mulf %w1, %x : f32
  %1 = arith.mulf %p1, %0 : f32
  %2 = arith.addf %acc, %1 : f32
  return %2 : f32
}
func.func private @finalize(%acc: f32, %ctx: none) -> f32 {
  %p = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<f32> {annudf.capture = "p"}
  %p1 = annudf.load %p[] : !annudf.capture<f32>
  %0 = arith.mulf %acc, %p1 : f32
  return %0 : f32
}
annudf.metric @context order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "weights" : !annudf.capture<dim x f32>
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @update(%x, %y, %acc, %ctx) : (f32, f32, f32, none) -> f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @finalize(%acc, %ctx) : (f32, none) -> f32
    annudf.yield %r : f32
  }
}

// -----

// Overflow flags go before anything is folded by them, and what rounds twice goes on
// rounding twice.
// CHECK-LABEL: annudf.metric @arithmetic
// CHECK:           %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT:      %[[D:.*]] = arith.sitofp %[[S]] : i64 to f64
// CHECK-NEXT:      arith.truncf %[[D]] : f64 to f32
// CHECK-NOT:       overflow
func.func private @update(%x: i32, %y: i32, %acc: f64) -> f64 {
  %0 = arith.extsi %x : i32 to i64
  %1 = arith.extsi %y : i32 to i64
  %2 = arith.addi %0, %1 overflow<nsw, nuw> : i64
  %3 = arith.sitofp %2 : i64 to f64
  %4 = arith.truncf %3 : f64 to f32
  %5 = arith.extf %4 : f32 to f64
  %6 = arith.addf %acc, %5 : f64
  return %6 : f64
}
annudf.metric @arithmetic order(min) coarse(l2) elements(i8) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: i32, %y: i32) {
    %r = func.call @update(%x, %y, %acc) : (i32, i32, f64) -> f64
    annudf.yield %r : f64
  }
}

// -----

// Arithmetic in f64 that nobody declared: one remark a line.
func.func private @update(%x: f32, %y: f32, %acc: f32) -> f32 {
  %c = arith.constant 0.1 : f64
  %0 = arith.extf %x : f32 to f64
  // expected-remark @below {{[P20] computes in f64, which a GPU does at 1/2 to 1/64 of its f32 rate; convert to f32 first, or declare f64}}
  %1 = arith.mulf %0, %c : f64
  %2 = arith.truncf %1 : f64 to f32
  %3 = arith.addf %acc, %2 : f32
  return %3 : f32
}
annudf.metric @f64 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @update(%x, %y, %acc) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// Booleans in bytes become bits; another byte stays one.
// CHECK-LABEL: annudf.metric @booleans
// CHECK:         annudf.update (%[[ACC:.*]]: i32, %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-DAG:       %[[A:.*]] = arith.cmpi slt, %[[X]], %[[Y]]
// CHECK-DAG:       %[[B:.*]] = arith.cmpi slt, %[[Y]], %[[ACC]]
// CHECK:           arith.andi %[[A]], %[[B]] : i1
// CHECK:           scf.if {{.*}} -> (i8)
func.func private @update(%x: i32, %y: i32, %acc: i32) -> i32 {
  %zero = arith.constant 0 : index
  %false = arith.constant 0 : i8
  %small = arith.constant 5 : i8
  %flag = memref.alloca() : memref<1xi8>
  %copy = memref.alloca() : memref<1xi8>
  %byte = memref.alloca() : memref<1xi8>
  memref.store %false, %flag[%zero] : memref<1xi8>
  %a = arith.cmpi slt, %x, %y : i32
  cf.cond_br %a, ^both, ^join
^both:
  %b = arith.cmpi slt, %y, %acc : i32
  %wide = arith.extui %b : i1 to i8
  memref.store %wide, %flag[%zero] : memref<1xi8>
  cf.br ^join
^join:
  %value = memref.load %flag[%zero] : memref<1xi8>
  memref.store %value, %copy[%zero] : memref<1xi8>
  %again = memref.load %copy[%zero] : memref<1xi8>
  %c = arith.cmpi ne, %again, %false : i8
  memref.store %small, %byte[%zero] : memref<1xi8>
  cf.cond_br %c, ^yes, ^end
^yes:
  %narrow = arith.trunci %x : i32 to i8
  %sum = arith.addi %narrow, %small : i8
  memref.store %sum, %byte[%zero] : memref<1xi8>
  cf.br ^end
^end:
  %last = memref.load %byte[%zero] : memref<1xi8>
  %r = arith.extsi %last : i8 to i32
  return %r : i32
}
annudf.metric @booleans order(min) coarse(l2) elements(i8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %r = func.call @update(%x, %y, %acc) : (i32, i32, i32) -> i32
    annudf.yield %r : i32
  }
}

// -----

// Several entries of one slot are variables of their own.
// CHECK-LABEL: annudf.metric @entries
// CHECK:         annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT:      %[[R:.*]] = arith.subf %[[Y]], %[[X]]
// CHECK-NEXT:      annudf.yield %[[R]]
func.func private @update(%x: f32, %y: f32, %acc: f32) -> f32 {
  %pair = memref.alloca() : memref<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.store %x, %pair[%c1] : memref<2xf32>
  memref.store %y, %pair[%c0] : memref<2xf32>
  %0 = memref.load %pair[%c0] : memref<2xf32>
  %1 = memref.load %pair[%c1] : memref<2xf32>
  %2 = arith.subf %0, %1 : f32
  return %2 : f32
}
annudf.metric @entries order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @update(%x, %y, %acc) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// A bound that a helper gets as an argument is constant where the helper is called.
// CHECK-LABEL: annudf.metric @bound
// CHECK:         %[[R:.*]] = scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1{{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (f32)
// CHECK-NEXT:      %[[T:.*]] = arith.mulf %[[S]]
// CHECK-NEXT:      scf.yield %[[T]]
func.func private @power(%x: f32, %y: f32, %n: i64) -> f32 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  cf.br ^header(%zero, %x : i64, f32)
^header(%i: i64, %s: f32):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : i64
  %t = arith.mulf %s, %y : f32
  cf.br ^header(%next, %t : i64, f32)
^end:
  return %s : f32
}
annudf.metric @bound order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %three = arith.constant 3 : i64
    %r = func.call @power(%x, %y, %three) : (f32, f32, i64) -> f32
    annudf.yield %r : f32
  }
}

// -----

// A loop whose counter is shifted by or divides is unrolled.
// CHECK-LABEL: annudf.metric @unrolled
// CHECK-NOT:     scf.for
// CHECK:         arith.shrui
// CHECK:         arith.divui %{{.*}}, %c2{{.*}}
// CHECK:         arith.shrui
// CHECK:         arith.divui %{{.*}}, %c3{{.*}}
// CHECK:         annudf.yield
func.func private @update(%x: i32, %y: i32, %acc: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = arith.constant 3 : i32
  cf.br ^header(%zero, %acc : i32, i32)
^header(%i: i32, %s: i32):
  %more = arith.cmpi slt, %i, %n : i32
  %next = arith.addi %i, %one : i32
  cf.cond_br %more, ^body, ^end
^body:
  %t = arith.shrui %x, %i : i32
  %u = arith.divui %y, %next : i32
  %v = arith.xori %t, %u : i32
  %w = arith.addi %s, %v : i32
  cf.br ^header(%next, %w : i32, i32)
^end:
  return %s : i32
}
annudf.metric @unrolled order(min) coarse(l2) elements(i8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %r = func.call @update(%x, %y, %acc) : (i32, i32, i32) -> i32
    annudf.yield %r : i32
  }
}

// -----

// An integer that wraps around is no counter: 5 steps of 2^62 end at 2^62, as one step does.
// CHECK-LABEL: annudf.metric @wraps
// CHECK:         scf.for %[[I:.*]] = %c0_i64{{.*}} to %c5_i64{{.*}} step %c1_i64{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK-NEXT:      arith.muli %[[I]], %c4611686018427387904_i64
func.func private @sum(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 5 : i64
  %big = arith.constant 4611686018427387904 : i64
  cf.br ^header(%zero, %zero, %x : i64, i64, f32)
^header(%a: i64, %i: i64, %s: f32):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^end
^body:
  %f = arith.sitofp %a : i64 to f32
  %t = arith.addf %s, %f : f32
  %b = arith.addi %a, %big : i64
  %j = arith.addi %i, %one : i64
  cf.br ^header(%b, %j, %t : i64, i64, f32)
^end:
  return %s : f32
}
annudf.metric @wraps order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @sum(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

// A loop that is left early runs on without its body, in every lane until the last:
// for i in range(8): if x > y: break
// CHECK-LABEL: annudf.metric @left_early
// CHECK:         %[[L:.*]]:3 = scf.for %{{.*}} = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%[[LEFT:.*]] = %c0_i32, %[[S:.*]] = %{{.*}}, %[[KEPT:.*]] = %{{.*}})
// CHECK-NEXT:      %[[IS:.*]] = arith.cmpi ne, %[[LEFT]], %c0_i32
// CHECK-NEXT:      scf.if %[[IS]]
// CHECK-NEXT:        scf.yield %[[LEFT]], %{{.*}}, %[[KEPT]]
// CHECK:             arith.cmpf ogt, %[[S]]
// CHECK:         %[[E:.*]] = arith.cmpi ne, %[[L]]#0, %c0_i32
// CHECK-NEXT:    arith.select %[[E]], %[[L]]#2, %[[L]]#1
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
  cf.cond_br %c, ^end, ^rest
^rest:
  %t = arith.addf %s, %y : f32
  cf.br ^header(%next, %t : i32, f32)
^end:
  return %s : f32
}
annudf.metric @left_early order(min) coarse(l2) elements(f32) {
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

// A choice of literals takes the type that it is converted to, as a literal does; of what is computed it stays.
// CHECK-LABEL: annudf.metric @chosen
// CHECK:         annudf.update
// CHECK-DAG:       %[[A:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG:       %[[B:.*]] = arith.constant 1.500000e+00 : f32
// CHECK-DAG:       %[[C:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG:       %[[N:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:           %[[WIDE:.*]] = arith.extf
// CHECK:           %[[SOME:.*]] = arith.select %{{.*}}, %{{.*}}, %[[WIDE]] : f64
// CHECK:           arith.truncf %[[SOME]] : f64 to f32
func.func private @update(%x: f32, %y: f32, %acc: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f64
  %half = arith.constant 1.5 : f64
  %large = arith.constant 1.0e300 : f64
  %three = arith.constant 3 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpf ogt, %x, %zero : f32
  %d = arith.cmpf ogt, %y, %zero : f32
  %0 = arith.select %c, %half, %large : f64
  %1 = arith.select %d, %two, %0 : f64
  %2 = arith.truncf %1 : f64 to f32
  %3 = arith.select %c, %three, %one : i64
  %4 = arith.sitofp %3 : i64 to f32
  %5 = arith.extf %y : f32 to f64
  %6 = arith.select %d, %two, %5 : f64
  %7 = arith.truncf %6 : f64 to f32
  %8 = arith.addf %2, %4 : f32
  %9 = arith.addf %8, %7 : f32
  %10 = arith.addf %acc, %9 : f32
  return %10 : f32
}
annudf.metric @chosen order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @update(%x, %y, %acc) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}
