// RUN: annudf-opt %s --annudf-carry-prefixes | FileCheck %s

// These stay: another end, another begin, a turn that needs the counter around, one that needs what
// the loop around carries, one that needs its own end.
// CHECK-LABEL: annudf.pairwise @others
// CHECK-COUNT-6: scf.for
annudf.pairwise @others order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %two = arith.constant 2 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %later = arith.addi %i, %two : index
      %end = arith.addi %i, %step : index
      %a = scf.for %j = %begin to %later step %step iter_args(%u = %zero) -> (f32) {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %more = arith.addf %u, %yj : f32
        scf.yield %more : f32
      }
      %b = scf.for %j = %step to %end step %step iter_args(%u = %a) -> (f32) {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %more = arith.addf %u, %yj : f32
        scf.yield %more : f32
      }
      %c = scf.for %j = %begin to %end step %step iter_args(%u = %zero) -> (f32) {
        %back = arith.subi %i, %j : index
        %yj = annudf.at %y[%back] : !annudf.vector<f32>
        %more = arith.addf %u, %yj : f32
        scf.yield %more : f32
      }
      %d = scf.for %j = %begin to %end step %step iter_args(%u = %b) -> (f32) {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %t = arith.addf %acc, %c : f32
        %more = math.fma %t, %yj, %u : f32
        scf.yield %more : f32
      }
      %e = scf.for %j = %begin to %end step %step iter_args(%u = %d) -> (f32) {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %whole = arith.index_cast %end : index to i32
        %count = arith.sitofp %whole : i32 to f32
        %part = arith.divf %yj, %count : f32
        %more = arith.addf %u, %part : f32
        scf.yield %more : f32
      }
      scf.yield %e : f32
    }
    annudf.yield %sum : f32
  }
}
