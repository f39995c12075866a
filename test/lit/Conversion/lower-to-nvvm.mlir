// RUN: annudf-opt %s --annudf-lower-to-nvvm | FileCheck %s

// A capture with a value is a table in constant memory; the other two take slots 0 and 1.
annudf.metric @m order(max) coarse(l2) elements(f16, u8) dims(3) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  %t = annudf.capture "t" = dense<[1.0, 2.0, 4.0]> : tensor<3xf32> : !annudf.capture<dim x f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = annudf.load %p[] : !annudf.capture<f32>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %1 = annudf.load %t[%d] : !annudf.capture<dim x f32>
    %2 = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %3 = arith.subf %x, %y : f32
    %4 = math.powf %3, %1 : f32
    %5 = func.call @scale(%4, %2) : (f32, f32) -> f32
    %6 = arith.maximumf %acc, %5 : f32
    annudf.yield %6 : f32
  }
}
func.func private @scale(%v: f32, %w: f32) -> f32 {
  %0 = arith.mulf %v, %w : f32
  func.return %0 : f32
}
func.func private @unused(%v: f32) -> f32 {
  func.return %v : f32
}

// CHECK: llvm.data_layout = "e-p:64:64:64-{{.*}}", llvm.target_triple = "nvptx64-nvidia-cuda"
// CHECK: llvm.func @__nv_powf(f32, f32) -> f32 attributes {memory_effects = #llvm.memory_effects<other = none, {{.*}}>, no_unwind
// CHECK: llvm.mlir.global internal constant @annudf_table_1(dense<[1.000000e+00, 2.000000e+00, 4.000000e+00]> : tensor<3xf32>) {addr_space = 4 : i32, alignment = 4 : i64} : !llvm.array<3 x f32>

// Helpers are inlined, and gone.
// CHECK-NOT: scale
// CHECK-NOT: unused
// CHECK-LABEL: llvm.func @annudf1_scan_init_a32(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr) -> i32
// CHECK-SAME: always_inline, no_unwind
// CHECK: llvm.trunc %{{.*}} : i64 to i32
// CHECK: llvm.bitcast %{{.*}} : i32 to f32

// One coordinate, already in the compute type: no element is mentioned.
// CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
// CHECK-SAME: %[[WORD:.*]]: i32, %[[X:.*]]: i32, %[[Y:.*]]: i32, %[[DIM:.*]]: i32, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32, %[[SLOTS:.*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[ACC:.*]] = llvm.bitcast %[[WORD]] : i32 to f32
// CHECK-DAG: llvm.bitcast %[[X]] : i32 to f32
// CHECK-DAG: llvm.bitcast %[[Y]] : i32 to f32
// CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @annudf_table_1 : !llvm.ptr<4>
// CHECK: %[[ENTRY:.*]] = llvm.getelementptr inbounds %[[TABLE]][%{{.*}}] : (!llvm.ptr<4>, i64) -> !llvm.ptr<4>, f32
// CHECK: llvm.load %[[ENTRY]] invariant {alignment = 4 : i64} : !llvm.ptr<4> -> f32
// CHECK: %[[SLOT:.*]] = llvm.getelementptr inbounds %[[SLOTS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[BITS:.*]] = llvm.load %[[SLOT]] invariant {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK: %[[BASE:.*]] = llvm.inttoptr %[[BITS]] : i64 to !llvm.ptr<1>
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.call @__nv_powf
// CHECK: %[[SCALED:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK: %[[NEXT:.*]] = llvm.intr.maximum(%[[ACC]], %[[SCALED]])
// CHECK: %[[RESULT:.*]] = llvm.bitcast %[[NEXT]] : f32 to i32
// CHECK: llvm.return %[[RESULT]] : i32

// The metric has no finalize; order and dims are the runtime's.
// CHECK-NOT: finalize
// CHECK-NOT: order
// CHECK-LABEL: llvm.func @annudf1_scan_contract() -> i64
// CHECK: llvm.mlir.constant(
// CHECK-NOT: llvm.func
