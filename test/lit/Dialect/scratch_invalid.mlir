// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// How scratch is made, read and written.

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op requires a single operand}}
    "annudf.scratch"() : () -> !annudf.scratch<4 x f32>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op requires one result}}
    "annudf.scratch"(%f) : (f32) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op result #0 must be memory of one pair of vectors, which annudf.get reads and annudf.put writes, but got 'f32'}}
    %s = "annudf.scratch"(%f) : (f32) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op failed to verify that fill is an entry}}
    %s = "annudf.scratch"(%i) : (i32) -> !annudf.scratch<4 x f32>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op requires zero regions}}
    %s = "annudf.scratch"(%f) ({}) : (f32) -> !annudf.scratch<4 x f32>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{successors in non-terminator}}
    %s = "annudf.scratch"(%f)[^next] : (f32) -> !annudf.scratch<4 x f32>
    ^next:
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.scratch' op [M15] carries attribute 'annudf.later', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %s = "annudf.scratch"(%f) {annudf.later} : (f32) -> !annudf.scratch<4 x f32>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op expected 2 operands, but found 1}}
    %v = "annudf.get"(%t) : (!annudf.scratch<4 x f32>) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op requires one result}}
    "annudf.get"(%t, %n) : (!annudf.scratch<4 x f32>, index) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op operand #0 must be memory of one pair of vectors, which annudf.get reads and annudf.put writes, but got '!annudf.vector<f32>'}}
    %v = "annudf.get"(%x, %n) : (!annudf.vector<f32>, index) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op operand #1 must be index, but got 'i32'}}
    %v = "annudf.get"(%t, %i) : (!annudf.scratch<4 x f32>, i32) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op failed to verify that result is an entry}}
    %v = "annudf.get"(%t, %n) : (!annudf.scratch<4 x f32>, index) -> f64
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op requires zero regions}}
    %v = "annudf.get"(%t, %n) ({}) : (!annudf.scratch<4 x f32>, index) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{successors in non-terminator}}
    %v = "annudf.get"(%t, %n)[^next] : (!annudf.scratch<4 x f32>, index) -> f32
    ^next:
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.get' op [M15] carries attribute 'annudf.later', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %v = "annudf.get"(%t, %n) {annudf.later} : (!annudf.scratch<4 x f32>, index) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op expected 3 operands, but found 2}}
    "annudf.put"(%f, %t) : (f32, !annudf.scratch<4 x f32>) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op requires zero results}}
    %v = "annudf.put"(%f, %t, %n) : (f32, !annudf.scratch<4 x f32>, index) -> f32
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op operand #1 must be memory of one pair of vectors, which annudf.get reads and annudf.put writes, but got '!annudf.vector<f32>'}}
    "annudf.put"(%f, %x, %n) : (f32, !annudf.vector<f32>, index) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op operand #2 must be index, but got 'i32'}}
    "annudf.put"(%f, %t, %i) : (f32, !annudf.scratch<4 x f32>, i32) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op failed to verify that value is an entry}}
    "annudf.put"(%i, %t, %n) : (i32, !annudf.scratch<4 x f32>, index) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op requires zero regions}}
    "annudf.put"(%f, %t, %n) ({}) : (f32, !annudf.scratch<4 x f32>, index) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{successors in non-terminator}}
    "annudf.put"(%f, %t, %n)[^next] : (f32, !annudf.scratch<4 x f32>, index) -> ()
    ^next:
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op [M15] carries attribute 'annudf.later', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    "annudf.put"(%f, %t, %n) {annudf.later} : (f32, !annudf.scratch<4 x f32>, index) -> ()
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{scratch of type 'f16'; use f32, f64, i32 or i64}}
    %s = annudf.scratch fill(%f) : !annudf.scratch<4 x f16>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{scratch of 0 entries; have 1 to 65536}}
    %s = annudf.scratch fill(%f) : !annudf.scratch<0 x f32>
    annudf.yield %f : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %f = arith.constant 0.0 : f32
    %i = arith.constant 0 : i32
    %n = arith.constant 0 : index
    %t = annudf.scratch fill(%f) : !annudf.scratch<4 x f32>
    // expected-error @below {{scratch of 65537 more than dim entries; have 1 to 65536}}
    %s = annudf.scratch fill(%f) : !annudf.scratch<dim + 65537 x f32>
    annudf.yield %f : f32
  }
}
