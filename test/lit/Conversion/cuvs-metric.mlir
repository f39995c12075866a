// A metric as the one function of rapids.cuvs.ivf_flat.metric.v1.
// RUN: annudf-opt %s --annudf-lower-to-nvvm="metric=weighted target=rapids.cuvs.ivf_flat.metric.v1" | FileCheck %s
// RUN: annudf-opt %s --annudf-to-nvvm="metric=l1 target=rapids.cuvs.ivf_flat.metric.v1 symbol=my_l1" | FileCheck %s --check-prefix=PLAIN
// RUN: annudf-opt %s --annudf-to-host="metric=tables target=rapids.cuvs.ivf_flat.metric.v1" | FileCheck %s --check-prefix=TABLES

// Helpers are inlined, hooks are none, and the address of the array comes as it is.
// CHECK-NOT: annudf1_
// CHECK-NOT: scale
// CHECK: llvm.func @annudf_metric_weighted(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[ACC:.*]]: f32, %[[W:.*]]: !llvm.ptr, %[[DIM:.*]]: i64) -> f32 attributes {always_inline, no_unwind}
// CHECK: %[[BITS:.*]] = llvm.ptrtoint %[[W]] : !llvm.ptr to i64
// CHECK: %[[BASE:.*]] = llvm.inttoptr %[[BITS]] : i64 to !llvm.ptr<1>
// CHECK: %[[ENTRY:.*]] = llvm.getelementptr inbounds %[[BASE]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK: llvm.load %[[ENTRY]] invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.fsub %[[X]], %[[Y]]
// CHECK: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[ACC]])
// CHECK: llvm.return %{{.*}} : f32
// CHECK-NOT: annudf1_
annudf.metric @weighted order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %1 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %2 = arith.subf %x, %y : f32
    %3 = func.call @scale(%2, %1) : (f32, f32) -> f32
    %4 = arith.addf %acc, %3 : f32
    annudf.yield %4 : f32
  }
}
func.func private @scale(%d: f32, %w: f32) -> f32 {
  %0 = arith.mulf %d, %d : f32
  %1 = arith.mulf %0, %w : f32
  func.return %1 : f32
}

// PLAIN: llvm.func @my_l1(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) -> f32
annudf.metric @l1 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = arith.subf %x, %y : f32
    %1 = math.absf %0 : f32
    %2 = arith.addf %acc, %1 : f32
    annudf.yield %2 : f32
  }
}

// Who scans does not know for how many dimensions it was made, so a coordinate beyond them reads the last entry.
// TABLES: llvm.mlir.global internal constant @annudf_table_0
// TABLES: llvm.func @annudf_metric_tables(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: !llvm.ptr, %[[DIM:.*]]: i64) -> f32
// TABLES: %[[LAST:.*]] = llvm.mlir.constant(3 : i64) : i64
// TABLES: llvm.intr.umin(%[[DIM]], %[[LAST]])
annudf.metric @tables order(min) coarse(l2) elements(f32) dims(4) {
  %t = annudf.capture "t" = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : !annudf.capture<dim x f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %1 = annudf.load %t[%i] : !annudf.capture<dim x f32>
    %2 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %acc, %3 : f32
    annudf.yield %4 : f32
  }
}
