// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-lower-to-llvm

// What was never verified: the lowering proves it again.

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %dims = annudf.index dims
    // expected-error @below {{'annudf.at' op annudf-lower-to-llvm: is not proved to stay inside its array or to end; annudf-verify-abi says what is missing}}
    %v = annudf.at %x[%dims] : !annudf.vector<f32>
    annudf.yield %v : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    %dims = annudf.index dims
    %s = annudf.scratch fill(%zero) : !annudf.scratch<dim x f32>
    // expected-error @below {{'annudf.put' op annudf-lower-to-llvm: is not proved to stay inside its array or to end; annudf-verify-abi says what is missing}}
    annudf.put %zero, %s[%dims] : !annudf.scratch<dim x f32>
    annudf.yield %zero : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    %begin = arith.constant 0 : index
    %dims = annudf.index dims
    // expected-error @below {{'scf.for' op annudf-lower-to-llvm: is not proved to stay inside its array or to end; annudf-verify-abi says what is missing}}
    scf.for %i = %begin to %dims step %begin {
    }
    annudf.yield %zero : f32
  }
}
