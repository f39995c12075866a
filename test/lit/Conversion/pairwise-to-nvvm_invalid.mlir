// RUN: annudf-opt %s --verify-diagnostics --annudf-lower-to-nvvm

// expected-error @below {{'annudf.pairwise' op annudf-lower-to-nvvm: is computed as it is written, which CPUs alone do; make it one pass over the coordinates}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}
