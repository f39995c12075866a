// RUN: annudf-opt %s --annudf-to-host | FileCheck %s
// RUN: annudf-opt %s --annudf-to-nvvm | FileCheck %s
// RUN: annudf-translate %s --annudf-to-nvvmir | FileCheck %s --check-prefix=NVVM

annudf.metric @m order(min) coarse(l2) elements(u8) accumulator(u32, f64) {
  annudf.init {
    %0 = arith.constant 7 : i32
    %1 = arith.constant 0.5 : f64
    annudf.yield %0, %1 : i32, f64
  }
  annudf.update (%n: i32, %sum: f64, %x: i32, %y: i32) {
    %d = arith.subi %x, %y : i32
    %f = arith.sitofp %d : i32 to f64
    %0 = arith.addi %n, %d : i32
    %1 = arith.addf %sum, %f : f64
    annudf.yield %0, %1 : i32, f64
  }
  annudf.finalize (%n: i32, %sum: f64) {
    %0 = arith.truncf %sum : f64 to f32
    annudf.yield %0 : f32
  }
}

// A field of 32 bits in a word of 64 is its low half, the high half 0.
// CHECK-LABEL: llvm.func @annudf1_scan_init_s64(
// CHECK-SAME: %[[ACC:.*]]: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr)
// CHECK-DAG: %[[FIRST:.*]] = llvm.zext %{{.*}} : i32 to i64
// CHECK-DAG: %[[AT0:.*]] = llvm.getelementptr inbounds %[[ACC]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-DAG: llvm.store %[[FIRST]], %[[AT0]] {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK-DAG: %[[AT1:.*]] = llvm.getelementptr inbounds %[[ACC]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-DAG: llvm.store %{{.*}}, %[[AT1]] {alignment = 8 : i64} : i64, !llvm.ptr
// CHECK: llvm.return{{$}}

// CHECK-LABEL: llvm.func @annudf1_scan_update_s64_x32(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i64,
// CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK: llvm.trunc %[[WORD]] : i64 to i32
// CHECK: llvm.bitcast %{{.*}} : i64 to f64
// CHECK-COUNT-2: llvm.store
// CHECK-NOT: llvm.store

// CHECK-LABEL: llvm.func @annudf1_scan_finalize_s64(
// CHECK-SAME: !llvm.ptr, {{.*}}) -> f32
// CHECK-NOT: llvm.store

// The pointer is nvcc's, or the linker would not inline the hook.
// NVVM: define void @annudf1_scan_init_s64(i64* %s0, i32 %a1, i32 %a2, i32 %a3, i64* %s4)
// NVVM: define void @annudf1_scan_update_s64_x32(i64* %s0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5, i32 %a6, i32 %a7, i64* %s8)
// NVVM: store i64 %{{.*}}, i64* %{{.*}}, align 8
// NVVM: define float @annudf1_scan_finalize_s64(i64* %s0, i32 %a1, i64 %a2, i32 %a3, i32 %a4, i64* %s5)
