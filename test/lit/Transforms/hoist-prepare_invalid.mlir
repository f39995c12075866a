// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-hoist-prepare --annudf-raise-pairwise

// A capture for prepared values holds f32.
annudf.pairwise @not_prepared order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  annudf.distance (%x: !annudf.vector<f64>, %y: !annudf.vector<f64>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %row = annudf.index row
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %aged = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %single = arith.truncf %yi : f64 to f32
      %next = math.fma %single, %a, %acc : f32
      scf.yield %next : f32
    }
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %wide) -> (f64) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %next = arith.addf %acc, %yi : f64
      scf.yield %next : f64
    }
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f64>
      %d = arith.divf %xi, %sum : f64
      %single = arith.truncf %d : f64 to f32
      %next = arith.addf %acc, %single : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}

// -----

// Row numbers differ between the pairs with a vector.
annudf.pairwise @not_prepared order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  annudf.distance (%x: !annudf.vector<f64>, %y: !annudf.vector<f64>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %row = annudf.index row
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %aged = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %single = arith.truncf %yi : f64 to f32
      %next = math.fma %single, %a, %acc : f32
      scf.yield %next : f32
    }
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %wide) -> (f64) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %next = arith.addf %acc, %yi : f64
      scf.yield %next : f64
    }
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f64>
      %d = arith.addf %xi, %wide : f64
      %single = arith.truncf %d : f64 to f32
      %next = math.fma %single, %aged, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}
