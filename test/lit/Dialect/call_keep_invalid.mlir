// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What annudf.call_keep is refused for.

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U1] names @nobody, which is no annudf.filter of the module that the op stands in; declare it there}}
  %r = annudf.call_keep @nobody() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func private @function()

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U1] names @function, which is no annudf.filter of the module that the op stands in; declare it there}}
  %r = annudf.call_keep @function() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

annudf.metric @plain order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U1] names @plain, which is no annudf.filter of the module that the op stands in; declare it there}}
  %r = annudf.call_keep @plain() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U3] takes 'f32' and gives 'i1', but annudf.keep of @f takes nothing and yields 'i1'; call it as that}}
  %r = annudf.call_keep @f(%a) ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : (f32) -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U3] takes nothing and gives 'f64', but annudf.keep of @f takes nothing and yields 'i1'; call it as that}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> f64
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U4] does not give row, which annudf.keep of @f reads; add row to ctx}}
  %r = annudf.call_keep @f() captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U5] gives dim, which has no meaning in annudf.keep; leave it out of ctx}}
  %r = annudf.call_keep @f() ctx(row = %i, dim = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U5] gives dim, which has no meaning in annudf.keep; leave it out of ctx}}
  %r = annudf.call_keep @f() ctx(dim = %i, row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U6] passes another number of captures than 'f' binds, 0 instead of 3; pass w, s, t}}
  %r = annudf.call_keep @f() ctx(row = %i) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U6] passes another number of captures than 'f' binds, 1 instead of 3; pass w, s, t}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w : memref<?x?xf32>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U7] passes 'memref<?x?xf32>' for the scalar "s" of 'f'; pass 'i8'}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %w, %t : memref<?x?xf32>, memref<?x?xf32>, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U8] passes 'i8' for the array "w" of 'f', '!annudf.capture<row x dim x f32>'; pass memref<?x?xf32>}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%s, %s, %t : i8, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<?xf32>) {
  // expected-error @below {{'annudf.call_keep' op [U8] passes 'memref<?xf32>' for the array "w" of 'f', '!annudf.capture<row x dim x f32>'; pass memref<?x?xf32>}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%bad, %s, %t : memref<?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<?x?xf64>) {
  // expected-error @below {{'annudf.call_keep' op [U8] passes 'memref<?x?xf64>' for the array "w" of 'f', '!annudf.capture<row x dim x f32>'; pass memref<?x?xf32>}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%bad, %s, %t : memref<?x?xf64>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<16xf32>) {
  // expected-error @below {{'annudf.call_keep' op [U8] passes 'memref<16xf32>' for the array "t" of 'f', '!annudf.capture<16 x bf16>'; pass memref<16xbf16>}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %s, %bad : memref<?x?xf32>, i8, memref<16xf32>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<?x7xf32>) {
  // expected-error @below {{'annudf.call_keep' op [U9] passes 'memref<?x7xf32>' for the array "w" of 'f', whose extent dim has 8 entries; pass that many}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%bad, %s, %t : memref<?x7xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<15xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [U9] passes 'memref<15xbf16>' for the array "t" of 'f', whose extent 16 has 16 entries; pass that many}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %s, %bad : memref<?x?xf32>, i8, memref<15xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>, %bad: memref<*xf32>) {
  // expected-error @below {{'annudf.call_keep' op [U8] passes 'memref<*xf32>' for the array "w" of 'f', '!annudf.capture<row x dim x f32>'; pass memref<?x?xf32>}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%bad, %s, %t : memref<*xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{custom op 'annudf.call_keep' unknown index 'lane' of ctx; write dim, dims, row, query or list}}
  %r = annudf.call_keep @f() ctx(row = %i, lane = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{custom op 'annudf.call_keep' ctx gives 'row' twice; give it once}}
  %r = annudf.call_keep @f() ctx(row = %i, row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [M15] carries attribute 'fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) {fast} : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op [M15] carries attribute 'annudf.fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_keep @f() ctx(row = %i) captures(%w, %s, %t : memref<?x?xf32>, i8, memref<16xbf16>) {annudf.fast} : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op requires attribute 'callee'}}
  %r = "annudf.call_keep"() {operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>} : () -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %r = "annudf.call_keep"(%a) <{callee = @f, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> : (f32) -> i1
  return
}

// -----

annudf.filter @f dims(8) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<ui8>
  %t = annudf.capture "t" : !annudf.capture<16 x bf16>
  annudf.keep {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<ui8>
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?x?xf32>, %s: i8, %t: memref<16xbf16>) {
  // expected-error @below {{'annudf.call_keep' op operand #0 must be index, but got 'f32'}}
  %r = "annudf.call_keep"(%a) <{callee = @f, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0, 0>}> : (f32) -> i1
  return
}
