// RUN: annudf-opt %s --annudf-to-host=metric=fields | FileCheck %s --check-prefix=FIELDS
// RUN: annudf-opt %s --annudf-to-nvvm=metric=fields | FileCheck %s --check-prefix=FIELDS
// RUN: annudf-translate %s --annudf-to-nvvmir --metric=fields | FileCheck %s --check-prefix=NVVM
// RUN: annudf-opt %s --annudf-to-host=metric=one | FileCheck %s --check-prefix=ONE
// RUN: annudf-opt %s --annudf-to-nvvm=metric=one | FileCheck %s --check-prefix=ONE

// Of several fields the other accumulator is read, and the first one written.
annudf.metric @fields order(min) coarse(l2) elements(u8) accumulator(u32, f64) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 0.0 : f64
    annudf.yield %0, %1 : i32, f64
  }
  annudf.update (%n: i32, %sum: f64, %x: i32, %y: i32) {
    %d = arith.subi %x, %y : i32
    %f = arith.sitofp %d : i32 to f64
    %0 = arith.addi %n, %d : i32
    %1 = arith.addf %sum, %f : f64
    annudf.yield %0, %1 : i32, f64
  }
  annudf.combine (%n: i32, %sum: f64, %n2: i32, %sum2: f64) {
    %0 = arith.addi %n2, %n : i32
    %1 = arith.addf %sum, %sum2 : f64
    annudf.yield %0, %1 : i32, f64
  }
  annudf.finalize (%n: i32, %sum: f64) {
    %0 = arith.truncf %sum : f64 to f32
    annudf.yield %0 : f32
  }
}

// FIELDS-LABEL: llvm.func @annudf1_scan_combine_s64(
// FIELDS-SAME: %[[ACC:.*]]: !llvm.ptr, %[[OTHER:.*]]: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr)
// FIELDS-DAG: llvm.getelementptr inbounds %[[OTHER]][0]
// FIELDS-DAG: llvm.getelementptr inbounds %[[OTHER]][1]
// FIELDS-COUNT-2: llvm.store
// FIELDS-NOT: llvm.store
// NVVM: define void @annudf1_scan_combine_s64(i64* %s0, i64* %s1, i32 %a2, i64 %a3, i32 %a4, i32 %a5, i64* %s6)

// Inferred; a metric without it has no such function.
annudf.metric @one order(min) coarse(l2) elements(f32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %v = annudf.load %w[] : !annudf.capture<f32>
    %d = arith.subf %x, %y : f32
    %t = arith.mulf %d, %v : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}
// ONE-LABEL: llvm.func @annudf1_scan_combine_a32(
// ONE-SAME: %[[A:[^ ]*]]: i32, %[[B:[^ ]*]]: i32, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr) -> i32
// ONE-DAG: %[[FA:.*]] = llvm.bitcast %[[A]] : i32 to f32
// ONE-DAG: %[[FB:.*]] = llvm.bitcast %[[B]] : i32 to f32
// ONE: llvm.fadd %[[FA]], %[[FB]]
