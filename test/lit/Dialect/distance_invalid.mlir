// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What a distance takes, yields and reads.

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W3] takes nothing; take the query and the stored vector, both as !annudf.vector<f32>, of f64 or of i32}}
  annudf.distance {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W3] takes '!annudf.vector<f32>'; take the query and the stored vector, both as !annudf.vector<f32>, of f64 or of i32}}
  annudf.distance (%x: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W3] takes '!annudf.vector<f32>', '!annudf.vector<f64>'; take the query and the stored vector, both as !annudf.vector<f32>, of f64 or of i32}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f64>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W3] takes 'f32', 'f32'; take the query and the stored vector, both as !annudf.vector<f32>, of f64 or of i32}}
  annudf.distance (%x: f32, %y: f32) {
    annudf.yield %x : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W4] yields 'f64'; yield the distance as f32}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W4] yields 'f32', 'f32'; yield the distance as f32}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [H2] has no value; end it with annudf.yield}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
  }
}

// -----

// expected-error @below {{'annudf.distance' op expects parent op 'annudf.pairwise'}}
annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
  %0 = arith.constant 0.0 : f32
  annudf.yield %0 : f32
}

// -----

// expected-error @below {{coordinates of type 'f16'; use f32, f64 or i32}}
func.func private @f(!annudf.vector<f16>)

// -----

// expected-error @below {{coordinates of type 'tuple<f32>'; use f32, f64 or i32}}
func.func private @f(!annudf.vector<tuple<f32>>)
