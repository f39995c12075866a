// Nobody verifies what linked code does, so no pass drops, merges or moves a call of it.
// RUN: annudf-opt %s --cse | FileCheck %s
// RUN: annudf-opt %s --canonicalize | FileCheck %s
// RUN: annudf-opt %s --loop-invariant-code-motion | FileCheck %s
// RUN: annudf-opt %s --control-flow-sink | FileCheck %s
// RUN: annudf-opt %s --remove-dead-values --sccp | FileCheck %s

annudf.extern @counted convention(c) (f32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // CHECK-LABEL: annudf.update
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    // CHECK: annudf.call @counted
    %unused = annudf.call @counted(%x) : (f32) -> f32
    // CHECK: %[[A:.*]] = annudf.call @counted
    // CHECK: %[[B:.*]] = annudf.call @counted
    %a = annudf.call @counted(%y) : (f32) -> f32
    %b = annudf.call @counted(%y) : (f32) -> f32
    // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
    %sum = arith.addf %a, %b : f32
    // CHECK: scf.for
    // CHECK: %[[C:.*]] = annudf.call @counted
    // CHECK: arith.addf %{{.*}}, %[[C]]
    %all = scf.for %i = %zero to %four step %one iter_args(%s = %acc) -> f32 {
      %c = annudf.call @counted(%x) : (f32) -> f32
      %t = arith.addf %s, %c : f32
      scf.yield %t : f32
    }
    // CHECK: %[[D:.*]] = annudf.call @counted
    // CHECK: scf.if
    // CHECK: scf.yield %[[D]]
    %d = annudf.call @counted(%sum) : (f32) -> f32
    %if = arith.cmpf ogt, %x, %y : f32
    %r = scf.if %if -> f32 {
      scf.yield %d : f32
    } else {
      %n = arith.negf %all : f32
      scf.yield %n : f32
    }
    annudf.yield %r : f32
  }
}
