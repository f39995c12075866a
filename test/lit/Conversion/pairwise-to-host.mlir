// RUN: annudf-opt %s --annudf-to-host | FileCheck %s

// Coordinates are read by functions of the scan; arrays of 8 bytes an entry come first.
// CHECK-DAG: llvm.func @annudf2_query_x32(!llvm.ptr, i32) -> i32
// CHECK-DAG: llvm.func @annudf2_stored_x32(!llvm.ptr, i32) -> i32
// CHECK: llvm.func @annudf2_distance_x32(%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[DIMS:.*]]: i32, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: !llvm.ptr, %[[SCRATCH:.*]]: !llvm.ptr) -> f32 attributes {{.*}}always_inline
// CHECK-DAG: llvm.getelementptr inbounds %[[SCRATCH]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : f64, !llvm.ptr
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK: llvm.call @annudf2_query_x32(%[[X]], %{{.*}}) : (!llvm.ptr, i32) -> i32
// CHECK: llvm.call @annudf2_stored_x32(%[[Y]], %{{.*}}) : (!llvm.ptr, i32) -> i32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.func @annudf2_contract() -> i64
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %t = annudf.scratch fill(%wide) : !annudf.scratch<4 x f64>
    %s = annudf.scratch fill(%zero) : !annudf.scratch<dim x f32>
    scf.for %i = %begin to %dims step %step {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      annudf.put %d, %s[%i] : !annudf.scratch<dim x f32>
    }
    %r = annudf.get %s[%begin] : !annudf.scratch<dim x f32>
    annudf.yield %r : f32
  }
}
