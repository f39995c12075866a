// Every op, type and attribute survives text, the generic form and bytecode.
// RUN: annudf-opt %s | FileCheck %s
// RUN: annudf-opt %s --mlir-print-op-generic | annudf-opt | FileCheck %s
// RUN: annudf-opt %s --emit-bytecode | annudf-opt | FileCheck %s
// RUN: annudf-opt %s --verify-roundtrip | FileCheck %s
// RUN: annudf-opt %s > %t.1 && annudf-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: annudf-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: annudf.metric @every_op order(min) coarse(l2) elements(f32, f16, i8, u8) {
// GENERIC: "annudf.metric"() <{coarse = #annudf.coarse<l2>
// GENERIC-SAME: elements = [#annudf.element<f32>, #annudf.element<f16>, #annudf.element<i8>, #annudf.element<u8>]
// GENERIC-SAME: order = #annudf.order<min>, sym_name = "every_op"}>
annudf.metric @every_op order(min) coarse(l2) elements(f32, f16, i8, u8) {
  // CHECK: %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  // CHECK: %[[P:.*]] = annudf.capture "p" = 3.000000e+00 : f32 : !annudf.capture<f32>
  %p = annudf.capture "p" = 3.0 : f32 : !annudf.capture<f32>
  // CHECK: annudf.init {
  annudf.init {
    // CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
    %inf = arith.constant 0xFF800000 : f32
    // CHECK: annudf.yield %[[INF]] : f32
    annudf.yield %inf : f32
  }
  // CHECK: annudf.update (%[[ACC:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32) {
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // CHECK: %[[DIM:.*]] = annudf.index dim
    // GENERIC: "annudf.index"() <{kind = #annudf.index_kind<dim>}> : () -> index
    %dim = annudf.index dim
    // CHECK: %[[DIMS:.*]] = annudf.index dims
    %dims = annudf.index dims
    // CHECK: annudf.load %[[W]][%[[DIM]]] : !annudf.capture<dim x f32>
    %wd = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    // CHECK: annudf.load %[[P]][] : !annudf.capture<f32>
    %pv = annudf.load %p[] : !annudf.capture<f32>
    %t = arith.mulf %wd, %pv : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
  // CHECK: annudf.finalize (%{{.*}}: f32) {
  annudf.finalize (%acc: f32) {
    // CHECK: annudf.index row
    // GENERIC: "annudf.index"() <{kind = #annudf.index_kind<row>}> : () -> index
    %row = annudf.index row
    // CHECK: annudf.index query
    %query = annudf.index query
    // CHECK: annudf.index list
    %list = annudf.index list
    annudf.yield %acc : f32
  }
}

// CHECK-LABEL: annudf.metric @policies order(max) coarse(cosine max) elements(u8) accumulator(u32) dims(128) {
annudf.metric @policies order(max) coarse(cosine max) elements(u8) accumulator(u32) dims(128) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    annudf.yield %acc : i32
  }
}

// Strict numerics are the default and are not printed.
// CHECK-LABEL: annudf.metric @strict order(min) coarse(l2) elements(f32) {
// CHECK-LABEL: annudf.metric @reassociate order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
annudf.metric @strict order(min) coarse(l2) elements(f32) numerics(strict) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
// GENERIC: numerics = #annudf.numerics<reassociate>
annudf.metric @reassociate order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// CHECK-LABEL: annudf.metric @missing order(min) coarse(l2) elements(f32, u8) dims(8) missing_values {
// GENERIC: missing_values
annudf.metric @missing order(min) coarse(l2) elements(f32, u8) dims(8) missing_values {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// CHECK-LABEL: annudf.metric @other_policies order(min) coarse(inner_product min) elements(i8) accumulator(i32) {
annudf.metric @other_policies order(min) coarse(inner_product min) elements(i8) accumulator(i32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    annudf.yield %acc : i32
  }
}

// CHECK-LABEL: annudf.metric @packed order(min) coarse(l2) elements(u8, bits) {
annudf.metric @packed order(min) coarse(l2) elements(u8, bits) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// CHECK-LABEL: annudf.metric @wide order(min) coarse(l2) elements(f32) accumulator(f64) {
annudf.metric @wide order(min) coarse(l2) elements(f32) accumulator(f64) {
  // CHECK: annudf.capture "a" : !annudf.capture<f64>
  %a = annudf.capture "a" : !annudf.capture<f64>
  // CHECK: annudf.init {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    annudf.yield %acc : f64
  }
  // CHECK: annudf.finalize (%{{.*}}: f64) {
  annudf.finalize (%acc: f64) {
    %0 = arith.truncf %acc : f64 to f32
    annudf.yield %0 : f32
  }
}

// CHECK-LABEL: annudf.metric @parts order(min) coarse(l2) elements(f32) numerics(reassociate) {
annudf.metric @parts order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    annudf.yield %a, %b : f32, f32
  }
  // CHECK: annudf.combine (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32) {
    // CHECK: annudf.yield %{{.*}}, %{{.*}} : f32, f32
    annudf.yield %c, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %b : f32
  }
}

// Every extent and element type that the type can hold, accepted by 1.0 or not.
// CHECK-LABEL: annudf.metric @types
annudf.metric @types order(min) coarse(l2) elements(f16) dims(2) {
  // CHECK: : !annudf.capture<row x f32>
  %0 = annudf.capture "row" : !annudf.capture<row x f32>
  // CHECK: : !annudf.capture<query x dim x f16>
  %1 = annudf.capture "query" : !annudf.capture<query x dim x f16>
  // CHECK: : !annudf.capture<16 x 16 x bf16>
  %2 = annudf.capture "table" : !annudf.capture<16 x 16 x bf16>
  // CHECK: : !annudf.capture<dim x i1>
  %3 = annudf.capture "mask" : !annudf.capture<dim x i1>
  // CHECK: : !annudf.capture<i8>
  %4 = annudf.capture "i8" : !annudf.capture<i8>
  // CHECK: : !annudf.capture<ui8>
  %5 = annudf.capture "ui8" : !annudf.capture<ui8>
  // CHECK: : !annudf.capture<si16>
  %6 = annudf.capture "si16" : !annudf.capture<si16>
  // CHECK: %[[U:.*]] = annudf.capture "ui32" : !annudf.capture<ui32>
  %7 = annudf.capture "ui32" : !annudf.capture<ui32>
  // CHECK: : !annudf.capture<i64>
  %8 = annudf.capture "i64" : !annudf.capture<i64>
  // CHECK: = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> : !annudf.capture<dim x f32>
  %9 = annudf.capture "baked" = dense<[1.0, 2.0]> : tensor<2xf32> : !annudf.capture<dim x f32>
  annudf.init {
    // An unsigned element is read without its sign.
    // CHECK: annudf.load %[[U]][] : !annudf.capture<ui32>
    // GENERIC: "annudf.load"(%{{.*}}) : (!annudf.capture<ui32>) -> i32
    %u = annudf.load %7[] : !annudf.capture<ui32>
    annudf.yield %u : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    // CHECK: annudf.load %{{.*}}[%{{.*}}, %{{.*}}] : !annudf.capture<16 x 16 x bf16>
    %c = arith.constant 3 : index
    %v = annudf.load %2[%c, %c] : !annudf.capture<16 x 16 x bf16>
    annudf.yield %acc : i32
  }
}

// CHECK-LABEL: annudf.filter @filter dims(3) {
// GENERIC: "annudf.filter"() <{dims = 3 : i32, sym_name = "filter"}>
annudf.filter @filter dims(3) {
  // CHECK: %[[PRICE:.*]] = annudf.capture "price" : !annudf.capture<row x f32>
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  // CHECK: %[[MOST:.*]] = annudf.capture "most" = 2.000000e+01 : f32 : !annudf.capture<f32>
  %most = annudf.capture "most" = 20.0 : f32 : !annudf.capture<f32>
  // CHECK: annudf.keep {
  // GENERIC: "annudf.keep"() ({
  annudf.keep {
    %row = annudf.index row
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[] : !annudf.capture<f32>
    %b = arith.cmpf ole, %p, %m : f32
    // CHECK: annudf.yield %{{.*}} : i1
    annudf.yield %b : i1
  }
}

// CHECK-LABEL: annudf.function @larger convention(raw) (tuple<f32, ui32>, tuple<f32, ui32>) -> tuple<f32, ui32> {
// GENERIC: "annudf.function"() <{convention = #annudf.convention<raw>, signature = (tuple<f32, ui32>, tuple<f32, ui32>) -> tuple<f32, ui32>, sym_name = "larger"}>
annudf.function @larger convention(raw) (tuple<f32, ui32>, tuple<f32, ui32>) -> tuple<f32, ui32> {
  // CHECK: annudf.body (%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32) {
  annudf.body (%a: f32, %i: i32, %b: f32, %j: i32) {
    %c = arith.cmpf oge, %a, %b : f32
    %r = arith.select %c, %a, %b : f32
    %k = arith.select %c, %i, %j : i32
    annudf.yield %r, %k : f32, i32
  }
}
// CHECK-LABEL: annudf.function @constant convention(c) () -> i1 {
annudf.function @constant convention(c) () -> i1 {
  // CHECK: annudf.body {
  annudf.body {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// CHECK-LABEL: annudf.extern @numbers convention(c) (f32, f64, i32, i64, ui32, ui64) -> ui64 link(cuda_source "a \22quoted\22\0A line")
// GENERIC: "annudf.extern"() <{contents = ["a \22quoted\22\0A line"], convention = #annudf.extern_convention<c>, kinds = [#annudf.link_kind<cuda_source>], signature = (f32, f64, i32, i64, ui32, ui64) -> ui64, sym_name = "numbers"}> : () -> ()
annudf.extern @numbers convention(c) (f32, f64, i32, i64, ui32, ui64) -> ui64
  link(cuda_source "a \"quoted\"\n line")
// CHECK-LABEL: annudf.extern @scaled convention(numba) (f32, f32) -> f32 link(ptx ".version 9.0 .target sm_90", cuda_source "x")
annudf.extern @scaled convention(numba) (f32, f32) -> f32
  link(ptx ".version 9.0 .target sm_90", cuda_source "x")
// CHECK-LABEL: annudf.metric @links
annudf.metric @links order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // CHECK: annudf.call @scaled(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
    // GENERIC: "annudf.call"(%{{.*}}, %{{.*}}) <{callee = @scaled}> : (f32, f32) -> f32
    %d = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
    %r = arith.addf %acc, %d : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: annudf.metric @called
annudf.metric @called order(min) coarse(l2) elements(f32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %q = annudf.index query
    %d = annudf.index dim
    %wd = annudf.load %w[%q, %d] : !annudf.capture<query x dim x f32>
    annudf.yield %a, %wd : f32, f32
  }
  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32) {
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}

// CHECK-LABEL: annudf.filter @asked
annudf.filter @asked {
  annudf.keep {
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

// CHECK-LABEL: func.func @calls(
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 2]>, 1>, %[[S:[a-z0-9]+]]: f32)
func.func @calls(%i: index, %w: memref<?x?xf32, strided<[?, 2]>, 1>, %s: f32) -> (f32, i1) {
  // CHECK: %[[A:.*]]:2 = annudf.call_init @called() : () -> (f32, f32)
  // GENERIC: "annudf.call_init"() <{callee = @called, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> : () -> (f32, f32)
  %a:2 = annudf.call_init @called() : () -> (f32, f32)
  // CHECK: %[[B:.*]]:2 = annudf.call_update @called(%[[A]]#0, %[[A]]#1, %[[S]], %[[S]]) ctx(dim = %[[I]], dims = %[[I]], row = %[[I]], query = %[[I]], list = %[[I]]) captures(%[[W]], %[[S]] : memref<?x?xf32, strided<[?, 2]>, 1>, f32) {llvm.line = 2 : i64} : (f32, f32, f32, f32) -> (f32, f32)
  %b:2 = annudf.call_update @called(%a#0, %a#1, %s, %s) ctx(list = %i, query = %i, row = %i, dims = %i, dim = %i)
    captures(%w, %s : memref<?x?xf32, strided<[?, 2]>, 1>, f32) {llvm.line = 2 : i64} : (f32, f32, f32, f32) -> (f32, f32)
  // CHECK: %[[C:.*]]:2 = annudf.call_combine @called(%[[A]]#0, %[[A]]#1, %[[B]]#0, %[[B]]#1) ctx(dims = %[[I]]) : (f32, f32, f32, f32) -> (f32, f32)
  %c:2 = annudf.call_combine @called(%a#0, %a#1, %b#0, %b#1) ctx(dims = %i) : (f32, f32, f32, f32) -> (f32, f32)
  // CHECK: annudf.call_finalize @called(%[[C]]#0, %[[C]]#1) : (f32, f32) -> f32
  %d = annudf.call_finalize @called(%c#0, %c#1) : (f32, f32) -> f32
  // CHECK: annudf.call_keep @asked() ctx(row = %[[I]]) : () -> i1
  %k = annudf.call_keep @asked() ctx(row = %i) : () -> i1
  return %d, %k : f32, i1
}

// CHECK-LABEL: annudf.pairwise @whole order(max) coarse(l2 min) elements(f32, f16) numerics(reassociate) dims(2) missing_values attributes {other.mark} {
// GENERIC: "annudf.pairwise"() <{coarse = #annudf.coarse<l2>, coarse_order = #annudf.order<min>, dims = 2 : i32, elements = [#annudf.element<f32>, #annudf.element<f16>], missing_values, numerics = #annudf.numerics<reassociate>, order = #annudf.order<max>, sym_name = "whole"}>
annudf.pairwise @whole order(max) coarse(l2 min) elements(f32, f16) numerics(reassociate) dims(2) missing_values attributes {other.mark} {
  // CHECK: annudf.capture "w"
  %w = annudf.capture "w" : !annudf.capture<f32>
  // CHECK: annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %i = arith.constant 1 : index
    // CHECK: annudf.at %[[X]][%{{.*}}] : !annudf.vector<f32>
    // GENERIC: "annudf.at"(%{{.*}}, %{{.*}}) : (!annudf.vector<f32>, index) -> f32
    %0 = annudf.at %x[%i] : !annudf.vector<f32>
    annudf.yield %0 : f32
  }
}

// CHECK-LABEL: annudf.pairwise @keeps
annudf.pairwise @keeps order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    %number = arith.constant 0 : i64
    %i = arith.constant 0 : index
    // CHECK: %[[A:.*]] = annudf.scratch fill(%{{.*}}) : !annudf.scratch<dim x f32>
    // GENERIC: "annudf.scratch"(%{{.*}}) : (f32) -> !annudf.scratch<dim x f32>
    %a = annudf.scratch fill(%zero) : !annudf.scratch<dim x f32>
    // CHECK: annudf.scratch fill(%{{.*}}) : !annudf.scratch<dim + 1 x i64>
    %b = annudf.scratch fill(%number) : !annudf.scratch<dim + 1 x i64>
    // CHECK: annudf.scratch fill(%{{.*}}) : !annudf.scratch<16 x f32>
    %c = annudf.scratch fill(%zero) : !annudf.scratch<16 x f32>
    // CHECK: %[[V:.*]] = annudf.get %[[A]][%[[I:.*]]] : !annudf.scratch<dim x f32>
    // GENERIC: "annudf.get"(%{{.*}}, %{{.*}}) : (!annudf.scratch<dim x f32>, index) -> f32
    %v = annudf.get %a[%i] : !annudf.scratch<dim x f32>
    // CHECK: annudf.put %[[V]], %[[A]][%[[I]]] : !annudf.scratch<dim x f32>
    // GENERIC: "annudf.put"(%{{.*}}, %{{.*}}, %{{.*}}) : (f32, !annudf.scratch<dim x f32>, index) -> ()
    annudf.put %v, %a[%i] : !annudf.scratch<dim x f32>
    annudf.yield %v : f32
  }
}
