// RUN: annudf-opt %s --annudf-raise-pairwise=keep | FileCheck %s

// What is no single pass stays, with its loops where they were.
// CHECK-LABEL: annudf.pairwise @first
// CHECK: %[[V:.*]] = annudf.at
// CHECK: scf.if
// CHECK-NEXT: scf.for
annudf.pairwise @first order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %v = annudf.at %x[%begin] : !annudf.vector<f32>
    %c = arith.cmpf ogt, %v, %zero : f32
    %r = scf.if %c -> (f32) {
      %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %v) -> (f32) {
        %xi = annudf.at %x[%begin] : !annudf.vector<f32>
        %next = arith.addf %acc, %xi : f32
        scf.yield %next : f32
      }
      scf.yield %sum : f32
    } else {
      scf.yield %zero : f32
    }
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: annudf.metric @manhattan
// CHECK-NOT: annudf.pairwise
annudf.pairwise @manhattan order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %a = math.absf %d : f32
      %next = arith.addf %acc, %a : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
