// RUN: annudf-opt %s -split-input-file -verify-diagnostics -annudf-import-frontend

// Loops up to a value that do not end, or end elsewhere than in their header; and one of a metric,
// whose loops have constant bounds.

func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  return %zero : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %r = func.call @f(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant -1 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  return %zero : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %r = func.call @f(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi ne, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  return %zero : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %r = func.call @f(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  %at = arith.index_cast %i : i64 to index
  %xi = annudf.at %x[%at] : !annudf.vector<f32>
  %c = arith.cmpf ogt, %xi, %zero : f32
  cf.cond_br %c, ^exit, ^head
^exit:
  return %zero : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %r = func.call @f(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32
    annudf.yield %r : f32
  }
}

// -----

// Two ways back with different steps.
func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %at = arith.index_cast %i : i64 to index
  %xi = annudf.at %x[%at] : !annudf.vector<f32>
  %c = arith.cmpf ogt, %xi, %zero : f32
  cf.cond_br %c, ^by_one, ^by_two
^by_one:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^by_two:
  %later = arith.addi %i, %two : i64
  memref.store %later, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  return %zero : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %r = func.call @f(%x, %y) : (!annudf.vector<f32>, !annudf.vector<f32>) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @g(%x: f32, %y: f32, %acc: f32) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  // expected-error @below {{[P14] repeats a number of times that is unknown at compile time; use range() with constant bounds, or while with a counter from one constant to another}}
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  return %acc : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @g(%x, %y, %acc) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}
