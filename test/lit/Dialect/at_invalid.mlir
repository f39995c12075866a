// RUN: annudf-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f32, %i: index) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%x' expects different type than prior uses: '!annudf.vector<f32>' vs 'f32'}}
  %0 = annudf.at %x[%i] : !annudf.vector<f32>
  return
}

// -----

func.func @f(%x: f32, %i: index) {
  // expected-error @below {{custom op 'annudf.at' 'vector' must be a vector of a search, of which annudf.at reads coordinates, but got 'f32'}}
  %0 = annudf.at %x[%i] : f32
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>, %i: i64) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{use of value '%i' expects different type than prior uses: 'index' vs 'i64'}}
  %0 = annudf.at %x[%i] : !annudf.vector<f32>
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>) {
  // expected-error @below {{expected SSA operand}}
  %0 = annudf.at %x[] : !annudf.vector<f32>
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>, %i: index) {
  // expected-error @below {{expected ']'}}
  %0 = annudf.at %x[%i, %i] : !annudf.vector<f32>
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>, %i: index) {
  // expected-error @below {{'annudf.at' op failed to verify that result is the type of the vector's coordinates}}
  %0 = "annudf.at"(%x, %i) : (!annudf.vector<f32>, index) -> f64
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>, %i: index) {
  // expected-error @below {{'annudf.at' op expected 2 operands, but found 1}}
  %0 = "annudf.at"(%x) : (!annudf.vector<f32>) -> f32
  return
}

// -----

func.func @f(%x: !annudf.vector<f32>, %i: index) {
  // expected-error @below {{'annudf.at' op [M15] carries attribute 'annudf.later', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %0 = annudf.at %x[%i] {annudf.later} : !annudf.vector<f32>
  return
}
