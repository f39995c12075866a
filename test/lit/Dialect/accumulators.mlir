// Accumulators of several fields survive text, the generic form and bytecode.
// RUN: annudf-opt %s --annudf-verify-abi | FileCheck %s
// RUN: annudf-opt %s --mlir-print-op-generic | annudf-opt | FileCheck %s
// RUN: annudf-opt %s --emit-bytecode | annudf-opt | FileCheck %s
// RUN: annudf-opt %s --verify-roundtrip | FileCheck %s
// RUN: annudf-opt %s > %t.1 && annudf-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: annudf-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: annudf.metric @cosine order(min) coarse(cosine) elements(f32) {
annudf.metric @cosine order(min) coarse(cosine) elements(f32) {
  // CHECK: annudf.yield %[[ZERO:.*]], %[[ZERO]], %[[ZERO]] : f32, f32, f32
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0, %0 : f32, f32, f32
  }
  // CHECK: annudf.update (%[[XY:.*]]: f32, %[[XX:.*]]: f32, %[[YY:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32) {
  // CHECK: math.fma %[[X]], %[[Y]], %[[XY]]
  annudf.update (%xy: f32, %xx: f32, %yy: f32, %x: f32, %y: f32) {
    %0 = math.fma %x, %y, %xy : f32
    %1 = math.fma %x, %x, %xx : f32
    %2 = math.fma %y, %y, %yy : f32
    annudf.yield %0, %1, %2 : f32, f32, f32
  }
  // CHECK: annudf.finalize (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
  annudf.finalize (%xy: f32, %xx: f32, %yy: f32) {
    %one = arith.constant 1.0 : f32
    %n = arith.mulf %xx, %yy : f32
    %s = math.sqrt %n : f32
    %c = arith.divf %xy, %s : f32
    %r = arith.subf %one, %c : f32
    annudf.yield %r : f32
  }
}

// As many as there can be, of all kinds; an unsigned one has to be said, and then all.
// CHECK-LABEL: annudf.metric @kinds order(max) coarse(l2) elements(i8, u8) accumulator(u32, f64, i64, i32) {
// GENERIC: accumulator = [#annudf.accumulator<u32>, #annudf.accumulator<f64>, #annudf.accumulator<i64>, #annudf.accumulator<i32>]
annudf.metric @kinds order(max) coarse(l2) elements(i8, u8) accumulator(u32, f64, i64, i32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 0.0 : f64
    %2 = arith.constant 0 : i64
    annudf.yield %0, %1, %2, %0 : i32, f64, i64, i32
  }
  // What is known of the coordinates is known of the last two arguments: the shift is proved.
  annudf.update (%a: i32, %b: f64, %c: i64, %d: i32, %x: i32, %y: i32) {
    %seven = arith.constant 7 : i32
    %by = arith.andi %y, %seven : i32
    %s = arith.shli %x, %by : i32
    %a1 = arith.addi %a, %s : i32
    %xf = arith.sitofp %x : i32 to f64
    %b1 = arith.addf %b, %xf : f64
    %wide = arith.extsi %x : i32 to i64
    %c1 = arith.addi %c, %wide : i64
    %k = arith.constant 200 : i32
    %above = arith.addi %y, %k : i32
    %d1 = arith.divsi %d, %above : i32
    annudf.yield %a1, %b1, %c1, %d1 : i32, f64, i64, i32
  }
  annudf.finalize (%a: i32, %b: f64, %c: i64, %d: i32) {
    %0 = arith.truncf %b : f64 to f32
    annudf.yield %0 : f32
  }
}

// One of 64 bits is an accumulator by itself, and is converted to the distance as others are.
// CHECK-LABEL: annudf.metric @wide order(min) coarse(l2) elements(u8) {
annudf.metric @wide order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0 : i64
    annudf.yield %0 : i64
  }
  annudf.update (%acc: i64, %x: i32, %y: i32) {
    %d = arith.subi %x, %y : i32
    %w = arith.extsi %d : i32 to i64
    %s = arith.muli %w, %w : i64
    %r = arith.addi %acc, %s : i64
    annudf.yield %r : i64
  }
}
