// RUN: annudf-opt %s --annudf-lower-to-nvvm | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: annudf-opt %s --annudf-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,HOST

// A product is fused with the one sum that uses it, and nothing else may be: no operation has flags that let it.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  // CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
  // CHECK-DAG: %[[ACC:.*]] = llvm.bitcast %arg0 : i32 to f32
  // CHECK-DAG: %[[X:.*]] = llvm.bitcast %arg1 : i32 to f32
  // CHECK-DAG: %[[Y:.*]] = llvm.bitcast %arg2 : i32 to f32
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // Of two products the first: the other one is rounded.
    // CHECK: %[[YY:.*]] = llvm.fmul %[[Y]], %[[Y]] : f32
    // GPU: %[[SUM:.*]] = llvm.intr.fma(%[[X]], %[[X]], %[[YY]]) : (f32, f32, f32) -> f32
    // HOST: %[[SUM:.*]] = llvm.intr.fmuladd(%[[X]], %[[X]], %[[YY]]) : (f32, f32, f32) -> f32
    %xx = arith.mulf %x, %x : f32
    %yy = arith.mulf %y, %y : f32
    %sum = arith.addf %xx, %yy : f32

    // A difference, from the right.
    // CHECK: %[[MINUS:.*]] = llvm.fneg %[[X]] : f32
    // GPU: %[[RIGHT:.*]] = llvm.intr.fma(%[[MINUS]], %[[Y]], %[[SUM]])
    // HOST: %[[RIGHT:.*]] = llvm.intr.fmuladd(%[[MINUS]], %[[Y]], %[[SUM]])
    %xy = arith.mulf %x, %y : f32
    %right = arith.subf %sum, %xy : f32

    // And from the left.
    // CHECK: %[[OTHER:.*]] = llvm.fneg %[[X]] : f32
    // GPU: %[[LEFT:.*]] = llvm.intr.fma(%[[RIGHT]], %[[Y]], %[[OTHER]])
    // HOST: %[[LEFT:.*]] = llvm.intr.fmuladd(%[[RIGHT]], %[[Y]], %[[OTHER]])
    %ry = arith.mulf %right, %y : f32
    %left = arith.subf %ry, %x : f32

    // What is used twice stays a product, in each of both uses.
    // CHECK: %[[TWICE:.*]] = llvm.fmul %[[LEFT]], %[[LEFT]] : f32
    // CHECK: %[[ONE:.*]] = llvm.fadd %[[TWICE]], %[[X]] : f32
    // CHECK: %[[BOTH:.*]] = llvm.fadd %[[ONE]], %[[TWICE]] : f32
    %twice = arith.mulf %left, %left : f32
    %one = arith.addf %twice, %x : f32
    %both = arith.addf %one, %twice : f32

    // Of f16 a fused one would be rounded twice.
    // CHECK: %[[H:.*]] = llvm.fptrunc %[[BOTH]] : f32 to f16
    // CHECK: %[[HH:.*]] = llvm.fmul %[[H]], %[[H]] : f16
    // CHECK: %[[HALF:.*]] = llvm.fadd %[[HH]], %[[H]] : f16
    %h = arith.truncf %both : f32 to f16
    %hh = arith.mulf %h, %h : f16
    %half = arith.addf %hh, %h : f16
    %back = arith.extf %half : f16 to f32

    // A user's flags stay, and let a device do what they say.
    // CHECK: %[[FREE:.*]] = llvm.fmul %[[ACC]], %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : f32
    // CHECK: llvm.fadd %[[FREE]], %[[FREE]] {fastmathFlags = #llvm.fastmath<contract>} : f32
    %free = arith.mulf %acc, %back fastmath<contract> : f32
    %next = arith.addf %free, %free fastmath<contract> : f32
    annudf.yield %next : f32
  }
}
