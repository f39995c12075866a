// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What a distance of whole vectors is made of.

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'arith.constant' op [W1] cannot stand in a pairwise; only captures and annudf.distance can, so move it into annudf.distance}}
  %c = arith.constant 1.0 : f32
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.init' op expects parent op 'annudf.metric'}}
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [W2] needs exactly one annudf.distance, found 0; write one}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
}

// -----

// expected-error @below {{'annudf.pairwise' op [W2] needs exactly one annudf.distance, found 2; keep one}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [M8] is for 0 dimensions; dims must be positive}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) dims(0) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [M6] lists element type f16 twice; list it once}}
annudf.pairwise @p order(min) coarse(l2) elements(f16, f16) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [M20] takes missing values, but lists element types without NaN only; list f32, f16 or bf16, or drop missing_values}}
annudf.pairwise @p order(min) coarse(l2) elements(i8) missing_values {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  // expected-error @below {{'annudf.capture' op [M7] "w" is declared twice; rename one}}
  %v = annudf.capture "w" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [M15] carries attribute 'annudf.later', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) attributes {annudf.later} {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

func.func @f() {
  // expected-error @below {{'annudf.pairwise' op symbol's parent must have the SymbolTable trait}}
  annudf.pairwise @p order(min) coarse(l2) elements(f32) {
    annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
  }
  return
}
