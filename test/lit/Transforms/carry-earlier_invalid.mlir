// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-carry-earlier --annudf-raise-pairwise

// Nothing shows that there is a coordinate before.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %before = arith.subi %i, %step : index
      // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
      %u = annudf.at %x[%before] : !annudf.vector<f32>
      %next = arith.addf %acc, %u : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// The condition shows one turn before, and in its other branch none.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %two = arith.constant 2 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %later = arith.cmpi sge, %i, %step : index
      %before = arith.subi %i, %two : index
      %next = scf.if %later -> (f32) {
        // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
        %u = annudf.at %x[%before] : !annudf.vector<f32>
        %more = arith.addf %acc, %u : f32
        scf.yield %more : f32
      } else {
        scf.yield %acc : f32
      }
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// A coordinate that comes later.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %later = arith.addi %i, %step : index
      %inside = arith.cmpi slt, %later, %dims : index
      %next = scf.if %inside -> (f32) {
        // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
        %u = annudf.at %x[%later] : !annudf.vector<f32>
        %more = arith.addf %acc, %u : f32
        scf.yield %more : f32
      } else {
        scf.yield %acc : f32
      }
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
