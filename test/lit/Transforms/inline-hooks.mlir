// Calls of hooks become the hooks' bodies, and nothing of annudf is left of what was called.
// RUN: annudf-opt %s --allow-unregistered-dialect --annudf-inline-hooks | FileCheck %s
// RUN: annudf-opt %s --allow-unregistered-dialect --annudf-inline-hooks > %t.1
// RUN: annudf-opt %t.1 --allow-unregistered-dialect --annudf-inline-hooks > %t.2
// RUN: diff %t.1 %t.2
// RUN: annudf-opt %s --allow-unregistered-dialect --annudf-inline-hooks=assert-bounds | FileCheck %s --check-prefix=ASSERT

// CHECK-NOT: annudf.
// CHECK-NOT: func.func private

func.func private @scale(%v: f32, %s: f32) -> f32 attributes {frontend.line = 3 : i64} {
  %r = func.call @twice(%v) : (f32) -> f32
  %q = arith.mulf %r, %s : f32
  return %q : f32
}
func.func private @twice(%v: f32) -> f32 {
  %r = arith.addf %v, %v : f32
  return %r : f32
}

annudf.metric @weighted order(min) coarse(l2) elements(f32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  %p = annudf.capture "p" = 3.0 : f32 : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %q = annudf.index query
    %wd = annudf.load %w[%q, %d] : !annudf.capture<query x dim x f32>
    %pv = annudf.load %p[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %t = arith.subf %x, %y {frontend.line = 8 : i64} : f32
    %u = func.call @scale(%t, %sv) : (f32, f32) -> f32
    %f = arith.mulf %u, %pv fastmath<contract> : f32
    %c = arith.cmpf olt, %f, %wd : f32
    %v = scf.if %c -> (f32) {
      %n = func.call @twice(%f) : (f32) -> f32
      scf.yield %n : f32
    } else {
      scf.yield %wd : f32
    }
    %r = arith.addf %a, %v : f32
    annudf.yield %r, %b : f32, f32
  }
  annudf.combine (%a: f32, %b: f32, %c: f32, %d: f32) {
    %r = arith.addf %a, %c : f32
    %s2 = arith.addf %b, %d : f32
    annudf.yield %r, %s2 : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    %r = arith.divf %a, %b : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32, %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32, %[[D:[a-z0-9]+]]: index, %[[Q:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: memref<?x?xf32, 1>, %[[S:[a-z0-9]+]]: f32)
// CHECK-NEXT: %[[WD:.*]] = memref.load %[[W]][%[[Q]], %[[D]]] : memref<?x?xf32, 1>
// CHECK-NEXT: %[[P:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: %[[T:.*]] = arith.subf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[T2:.*]] = arith.addf %[[T]], %[[T]] : f32
// CHECK-NEXT: %[[U:.*]] = arith.mulf %[[T2]], %[[S]] : f32
// CHECK-NEXT: %[[F:.*]] = arith.mulf %[[U]], %[[P]] fastmath<contract> : f32
// CHECK-NEXT: %[[C:.*]] = arith.cmpf olt, %[[F]], %[[WD]] : f32
// CHECK-NEXT: %[[V:.*]] = scf.if %[[C]] -> (f32) {
// CHECK-NEXT:   %[[N:.*]] = arith.addf %[[F]], %[[F]] : f32
// CHECK-NEXT:   scf.yield %[[N]] : f32
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[WD]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[A]], %[[V]] : f32
// CHECK-NEXT: return %[[R]], %[[B]] : f32, f32
// ASSERT-LABEL: func.func @update(
// ASSERT-SAME: %[[D:[a-z0-9]+]]: index, %[[Q:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: memref<?x?xf32, 1>
// ASSERT: %[[N0:.*]] = memref.dim %[[W]], %c0
// ASSERT-NEXT: %[[IN0:.*]] = arith.cmpi ult, %[[Q]], %[[N0]] : index
// ASSERT-NEXT: cf.assert %[[IN0]], "weighted: an index of capture \22w\22 is outside its memref; pass a memref of the capture's extents"
// ASSERT: %[[N1:.*]] = memref.dim %[[W]], %c1
// ASSERT-NEXT: %[[IN1:.*]] = arith.cmpi ult, %[[D]], %[[N1]] : index
// ASSERT-NEXT: cf.assert %[[IN1]]
// ASSERT-NEXT: memref.load %[[W]][%[[Q]], %[[D]]]
func.func @update(%a: f32, %b: f32, %x: f32, %y: f32, %d: index, %q: index, %w: memref<?x?xf32, 1>, %s: f32) -> (f32, f32) {
  %r:2 = annudf.call_update @weighted(%a, %b, %x, %y) ctx(dim = %d, query = %q)
    captures(%w, %s : memref<?x?xf32, 1>, f32) : (f32, f32, f32, f32) -> (f32, f32)
  return %r#0, %r#1 : f32, f32
}

// Calls that take each other's results.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[Z2:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[J:.*]] = arith.addf %[[Z]], %[[Z2]] : f32
// CHECK-NEXT: %[[K:.*]] = arith.addf %[[Z]], %[[X]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.divf %[[J]], %[[K]] : f32
// CHECK-NEXT: return %[[R]] : f32
func.func @whole(%x: f32) -> f32 {
  %a:2 = annudf.call_init @weighted() : () -> (f32, f32)
  %b:2 = annudf.call_init @weighted() : () -> (f32, f32)
  %c:2 = annudf.call_combine @weighted(%a#0, %a#1, %b#0, %x) : (f32, f32, f32, f32) -> (f32, f32)
  %r = annudf.call_finalize @weighted(%c#0, %c#1) : (f32, f32) -> f32
  return %r : f32
}

// What elements become, and tables of constants.
annudf.filter @table dims(3) {
  %bits = annudf.capture "bits" : !annudf.capture<row x i1>
  %half = annudf.capture "half" : !annudf.capture<row x bf16>
  %byte = annudf.capture "byte" : !annudf.capture<row x ui8>
  %flags = annudf.capture "flags" = dense<[true, false, true]> : tensor<3xi1> : !annudf.capture<3 x i1>
  %codes = annudf.capture "codes" = dense<[[1, 2], [3, 255]]> : tensor<2x2xui8> : !annudf.capture<2 x 2 x ui8>
  %same = annudf.capture "same" = dense<7> : tensor<4xui8> : !annudf.capture<4 x ui8>
  annudf.keep {
    %row = annudf.index row
    %one = arith.constant 1 : index
    %b = annudf.load %bits[%row] : !annudf.capture<row x i1>
    %h = annudf.load %half[%row] : !annudf.capture<row x bf16>
    %y = annudf.load %byte[%row] : !annudf.capture<row x ui8>
    %f = annudf.load %flags[%one] : !annudf.capture<3 x i1>
    %c = annudf.load %codes[%one, %one] : !annudf.capture<2 x 2 x ui8>
    %s = annudf.load %same[%one] : !annudf.capture<4 x ui8>
    %t = arith.xori %c, %s : i8
    %u = arith.cmpi ne, %t, %y : i8
    %v = arith.andi %u, %f : i1
    %k = arith.andi %v, %b : i1
    annudf.yield %k : i1
  }
}

// CHECK: memref.global "private" constant @annudf_table_table_codes : memref<2x2xi8> = dense<{{\[\[}}1, 2], [3, -1]]>
// CHECK: memref.global "private" constant @annudf_table_table_flags : memref<3xi8> = dense<[1, 0, 1]>
// CHECK-LABEL: func.func @keep(
// CHECK-SAME: %[[ROW:[a-z0-9]+]]: index, %[[BITS:[a-z0-9]+]]: memref<?xi8>, %[[HALF:[a-z0-9]+]]: memref<?xbf16>, %[[BYTE:[a-z0-9]+]]: memref<9xi8>)
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[B8:.*]] = memref.load %[[BITS]][%[[ROW]]] : memref<?xi8>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-NEXT: %[[B:.*]] = arith.cmpi ne, %[[B8]], %[[ZERO]] : i8
// CHECK-NEXT: %[[H:.*]] = memref.load %[[HALF]][%[[ROW]]] : memref<?xbf16>
// CHECK-NEXT: arith.extf %[[H]] : bf16 to f32
// CHECK-NEXT: memref.load %[[BYTE]][%[[ROW]]] : memref<9xi8>
// CHECK-NEXT: %[[FLAGS:.*]] = memref.get_global @annudf_table_table_flags : memref<3xi8>
// CHECK-NEXT: memref.load %[[FLAGS]][%[[ONE]]] : memref<3xi8>
// CHECK: %[[CODES:.*]] = memref.get_global @annudf_table_table_codes : memref<2x2xi8>
// CHECK-NEXT: memref.load %[[CODES]][%[[ONE]], %[[ONE]]] : memref<2x2xi8>
// CHECK-NEXT: arith.constant 7 : i8
func.func @keep(%row: index, %bits: memref<?xi8>, %half: memref<?xbf16>, %byte: memref<9xi8>) -> i1 {
  %k = annudf.call_keep @table() ctx(row = %row) captures(%bits, %half, %byte : memref<?xi8>, memref<?xbf16>, memref<9xi8>) : () -> i1
  return %k : i1
}

// Conversions saturate, as they do in a search.
annudf.metric @rounded order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = arith.fptosi %x : f32 to i32
    %h = arith.truncf %y : f32 to f16
    %u = arith.fptoui %h : f16 to i64
    %v = arith.trunci %u : i64 to i32
    %w = arith.addi %i, %v : i32
    %r = arith.sitofp %w : i32 to f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: func.func @round(
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: f32, %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32)
// CHECK-NEXT: %[[LOW:.*]] = arith.constant -2.14748365E+9 : f32
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[LOW]] : f32
// CHECK-NEXT: %[[PAST:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpf oge, %[[X]], %[[PAST]] : f32
// CHECK-NEXT: %[[LOW2:.*]] = arith.constant -2.14748365E+9 : f32
// CHECK-NEXT: %[[FROM:.*]] = arith.cmpf oge, %[[X]], %[[LOW2]] : f32
// CHECK-NEXT: %[[PAST2:.*]] = arith.constant 2.14748365E+9 : f32
// CHECK-NEXT: %[[TO:.*]] = arith.cmpf olt, %[[X]], %[[PAST2]] : f32
// CHECK-NEXT: %[[INSIDE:.*]] = arith.andi %[[FROM]], %[[TO]] : i1
// CHECK-NEXT: %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[X]], %[[NONE]] : f32
// CHECK-NEXT: %[[I:.*]] = arith.fptosi %[[SAFE]] : f32 to i32
// CHECK-NEXT: %[[LEAST:.*]] = arith.constant -2147483648 : i32
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.select %[[BELOW]], %[[LEAST]], %[[I]] : i32
// CHECK-NEXT: %[[MOST:.*]] = arith.constant 2147483647 : i32
// CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[ABOVE]], %[[MOST]], %[[BOUNDED]] : i32
// CHECK: arith.constant 0x7C00 : f16
// CHECK: arith.fptoui
// CHECK: arith.addi %[[RESULT]]
func.func @round(%a: f32, %x: f32, %y: f32) -> f32 {
  %r = annudf.call_update @rounded(%a, %x, %y) : (f32, f32, f32) -> f32
  return %r : f32
}

// A metric that something else names stays, and so does one that nothing calls.
annudf.metric @named order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 1.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
// CHECK: annudf.metric @named
// CHECK: func.func @user() -> f32 attributes {frontend.metric = @named}
func.func @user() -> f32 attributes {frontend.metric = @named} {
  %r = annudf.call_init @named() : () -> f32
  return %r : f32
}

// A call may take its own result where nothing runs.
// CHECK-LABEL: func.func @unreachable(
// CHECK: ^bb1:
// CHECK-COUNT-2: arith.constant 0.000000e+00 : f32
// CHECK: %[[ACC:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.addf %[[ACC]], %[[NONE]] : f32
// CHECK-NEXT: cf.br ^bb1
annudf.metric @same order(min) coarse(l2) elements(f32) {
  %s = annudf.capture "s" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 1.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %v : f32
    annudf.yield %r : f32
  }
}
func.func @unreachable(%a: f32) -> f32 {
  return %a : f32
^never:
  %r = annudf.call_update @same(%r, %a, %a) : (f32, f32, f32) -> f32
  %s = annudf.call_update @same(%t, %a, %a) : (f32, f32, f32) -> f32
  %t = annudf.call_update @same(%s, %a, %a) : (f32, f32, f32) -> f32
  %u = annudf.call_finalize @same(%u) captures(%u : f32) : (f32) -> f32
  cf.br ^never
}
