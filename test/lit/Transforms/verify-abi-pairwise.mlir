// RUN: annudf-opt %s --split-input-file --annudf-verify-abi | FileCheck %s

// The full Mahalanobis distance: two loops, one in the other.
// CHECK-LABEL: annudf.pairwise @mahalanobis
annudf.pairwise @mahalanobis order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x dim x f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%a = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %di = arith.subf %xi, %yi : f32
      %row = scf.for %j = %begin to %dims step %step iter_args(%b = %zero) -> (f32) {
        %xj = annudf.at %x[%j] : !annudf.vector<f32>
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %dj = arith.subf %xj, %yj : f32
        %wij = annudf.load %w[%i, %j] : !annudf.capture<dim x dim x f32>
        %product = arith.mulf %wij, %dj : f32
        %next = arith.addf %b, %product : f32
        scf.yield %next : f32
      }
      %product = arith.mulf %di, %row : f32
      %next = arith.addf %a, %product : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// A row of costs in a band: an index by min, max and differences, and one more entry than dims.
// CHECK-LABEL: annudf.pairwise @band
annudf.pairwise @band order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %reach = arith.constant 2 : index
    %inf = arith.constant 0x7F800000 : f32
    %zero = arith.constant 0.0 : f32
    %costs = annudf.scratch fill(%inf) : !annudf.scratch<dim + 1 x f32>
    annudf.put %zero, %costs[%begin] : !annudf.scratch<dim + 1 x f32>
    scf.for %i = %begin to %dims step %step {
      %low = arith.subi %i, %reach : index
      %from = arith.maxsi %low, %begin : index
      %high = arith.addi %i, %reach : index
      %past = arith.addi %high, %step : index
      %to = arith.minsi %past, %dims : index
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      scf.for %j = %from to %to step %step {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %d = arith.subf %xi, %yj : f32
        %a = math.absf %d : f32
        %before = annudf.get %costs[%j] : !annudf.scratch<dim + 1 x f32>
        %cost = arith.addf %before, %a : f32
        %after = arith.addi %j, %step : index
        annudf.put %cost, %costs[%after] : !annudf.scratch<dim + 1 x f32>
      }
    }
    %result = annudf.get %costs[%dims] : !annudf.scratch<dim + 1 x f32>
    annudf.yield %result : f32
  }
}

// -----

// At the limits: all scratch that there may be, and a condition that proves an index.
// CHECK-LABEL: annudf.pairwise @most
annudf.pairwise @most order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %wide = arith.constant 0.0 : f64
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : index
    %dims = annudf.index dims
    %s = annudf.scratch fill(%wide) : !annudf.scratch<dim + 8192 x f64>
    %a = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %b = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %c = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %d = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %e = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %f = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %g = annudf.scratch fill(%wide) : !annudf.scratch<dim x f64>
    %has = arith.cmpi slt, %one, %dims : index
    %v = scf.if %has -> (f32) {
      %second = annudf.at %x[%one] : !annudf.vector<f32>
      scf.yield %second : f32
    } else {
      scf.yield %zero : f32
    }
    annudf.yield %v : f32
  }
}

// -----

// Fixed dimensions bound what they index.
// CHECK-LABEL: annudf.pairwise @last
annudf.pairwise @last order(max) coarse(l2) elements(u8) dims(8) {
  annudf.distance (%x: !annudf.vector<i32>, %y: !annudf.vector<i32>) {
    %seven = arith.constant 7 : index
    %v = annudf.at %y[%seven] : !annudf.vector<i32>
    %r = arith.sitofp %v : i32 to f32
    annudf.yield %r : f32
  }
}
