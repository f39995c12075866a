// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// expected-error @below {{'annudf.pairwise' op [W13] is no metric yet; run annudf-raise-pairwise first}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}

// -----

func.func private @f(%x: f32) -> f32 {
  return %x : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
// A metric beside it does not hide it.
// expected-error @below {{'annudf.pairwise' op [W13] is no metric yet; run annudf-raise-pairwise first}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}
