// RUN: annudf-opt %s --annudf-lower-to-nvvm=metric=larger | FileCheck %s --check-prefix=RAW
// RUN: annudf-opt %s --annudf-lower-to-nvvm=metric=narrow | FileCheck %s --check-prefix=C
// RUN: annudf-opt %s --annudf-lower-to-llvm=metric=looked | FileCheck %s --check-prefix=STATE
// RUN: annudf-opt %s --annudf-inline-captures='values={scale = 2.0 : f64}' --annudf-lower-to-llvm=metric=scaled | FileCheck %s --check-prefix=BAKED

// Structs lie as in C, and all is read before anything is written.
// RAW-LABEL: llvm.func @larger(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr) attributes {always_inline, no_unwind}
// RAW: llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i8
// RAW: llvm.getelementptr inbounds %arg0[8]
// RAW: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr -> f64
// RAW: llvm.getelementptr inbounds %arg0[16]
// RAW: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// RAW: llvm.getelementptr inbounds %arg1[0]
// RAW-NOT: llvm.store
// RAW: llvm.fcmp "oge"
// RAW: llvm.getelementptr inbounds %arg2[0]
// RAW: llvm.store {{.*}} {alignment = 1 : i64} : i8
// RAW: llvm.getelementptr inbounds %arg2[8]
// RAW: llvm.store
// RAW: llvm.getelementptr inbounds %arg2[16]
// RAW: llvm.store
// RAW-NOT: llvm.load
annudf.function @larger convention(raw) (tuple<i1, tuple<f64, ui16>>, tuple<i1, tuple<f64, ui16>>) -> tuple<i1, tuple<f64, ui16>> {
  annudf.body (%p: i1, %a: f64, %i: i16, %q: i1, %b: f64, %j: i16) {
    %c = arith.cmpf oge, %a, %b : f64
    %s = arith.select %c, %p, %q : i1
    %r = arith.select %c, %a, %b : f64
    %k = arith.select %c, %i, %j : i16
    annudf.yield %s, %r, %k : i1, f64, i16
  }
}

// What is narrower than an int is widened by its sign on both sides.
// C-LABEL: llvm.func @narrow(%arg0: i8 {llvm.zeroext}, %arg1: i8 {llvm.signext}, %arg2: i8 {llvm.zeroext}, %arg3: i32) -> (i16 {llvm.signext})
annudf.function @narrow convention(c) (ui8, i8, i1, ui32) -> i16 {
  annudf.body (%a: i8, %b: i8, %c: i1, %d: i32) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.extsi %b : i8 to i16
    %2 = arith.select %c, %0, %1 : i16
    annudf.yield %2 : i16
  }
}

// The state comes first; who calls may write what it points at meanwhile.
// STATE-LABEL: llvm.func @looked(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr)
// STATE: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> i64
// STATE-NOT: invariant
annudf.function @looked convention(raw) (ui8) -> f32 {
  %t = annudf.capture "t" : !annudf.capture<256 x f32>
  annudf.body (%a: i8) {
    %i = arith.index_castui %a : i8 to index
    %r = annudf.load %t[%i] : !annudf.capture<256 x f32>
    annudf.yield %r : f32
  }
}

// BAKED-LABEL: llvm.func @scaled(%arg0: f32) -> f32
annudf.function @scaled convention(c) (f32) -> f32 {
  %s = annudf.capture "scale" : !annudf.capture<f64>
  annudf.body (%a: f32) {
    %w = annudf.load %s[] : !annudf.capture<f64>
    %x = arith.truncf %w : f64 to f32
    %r = func.call @times(%a, %x) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}
func.func private @times(%a: f32, %b: f32) -> f32 {
  %r = arith.mulf %a, %b : f32
  return %r : f32
}
