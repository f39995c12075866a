// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-reads-to-loops --annudf-raise-pairwise

// Coordinates that a vector may lack stay reads.

annudf.pairwise @p order(min) coarse(l2) elements(f32) dims(2) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %two = arith.constant 2 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
    %x2 = annudf.at %x[%two] : !annudf.vector<f32>
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %x2) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %two = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
    %x2 = annudf.at %x[%two] : !annudf.vector<f32>
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %x2) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) dims(2) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %two = arith.constant -1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
    %x2 = annudf.at %x[%two] : !annudf.vector<f32>
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %x2) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
