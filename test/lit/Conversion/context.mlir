// Every index of a scan is the argument of its hook, and captures are row-major.
// RUN: annudf-opt %s --annudf-verify-abi --annudf-lower-to-llvm | FileCheck %s
// RUN: annudf-opt %s --annudf-verify-abi --annudf-lower-to-nvvm | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  %t = annudf.capture "t" : !annudf.capture<2 x dim x 3 x f32>
  %bias = annudf.capture "bias" : !annudf.capture<query x f32>
  annudf.init {
    %query = annudf.index query
    %list = annudf.index list
    %b = annudf.load %bias[%query] : !annudf.capture<query x f32>
    %l = arith.index_cast %list : index to i32
    %f = arith.sitofp %l : i32 to f32
    %r = arith.addf %b, %f : f32
    annudf.yield %r : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    // Through casts that keep it.
    %query = annudf.index query
    %narrow = arith.index_cast %query : index to i32
    %wide = arith.extsi %narrow : i32 to i64
    %same = arith.index_cast %wide : i64 to index
    %wd = annudf.load %w[%same, %dim] : !annudf.capture<query x dim x f32>
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %td = annudf.load %t[%one, %dim, %two] : !annudf.capture<2 x dim x 3 x f32>
    %s = arith.mulf %wd, %td : f32
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %s, %acc : f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %n = arith.index_cast %row : index to i64
    %same = arith.index_castui %n : i64 to index
    %a = annudf.load %age[%same] : !annudf.capture<row x f32>
    %r = arith.mulf %acc, %a : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: llvm.func @annudf1_scan_init_a32(
// CHECK-SAME: %{{[a-z0-9]+}}: i32, %[[QUERY:[a-z0-9]+]]: i32, %[[LIST:[a-z0-9]+]]: i32, %[[SLOTS:[a-z0-9]+]]: !llvm.ptr
// CHECK-DAG: %[[Q:.*]] = llvm.sext %[[QUERY]] : i32 to i64
// CHECK-DAG: %[[L:.*]] = llvm.sext %[[LIST]] : i32 to i64
// CHECK-DAG: llvm.getelementptr inbounds %[[SLOTS]][3]
// CHECK-DAG: llvm.getelementptr inbounds %{{.*}}[%[[Q]]]
// CHECK-DAG: llvm.trunc %[[L]] : i64 to i32

// CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
// CHECK-SAME: i32, %[[DIM:[a-z0-9]+]]: i32, %[[DIMS:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i64, %[[QUERY:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %[[SLOTS:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[D:.*]] = llvm.sext %[[DIM]] : i32 to i64
// CHECK: %[[Q:.*]] = llvm.sext %[[QUERY]] : i32 to i64
// CHECK: %[[NARROW:.*]] = llvm.trunc %[[Q]] : i64 to i32
// CHECK: %[[SAME:.*]] = llvm.sext %[[NARROW]] : i32 to i64
// CHECK: llvm.getelementptr inbounds %[[SLOTS]][1]
// CHECK: %[[N:.*]] = llvm.sext %[[DIMS]] : i32 to i64
// CHECK: %[[BEFORE:.*]] = llvm.mul %[[SAME]], %[[N]] : i64
// CHECK: %[[AT:.*]] = llvm.add %[[BEFORE]], %[[D]] : i64
// CHECK: llvm.getelementptr inbounds %{{.*}}[%[[AT]]]
// (1 * dims + dim) * 3 + 2
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK: llvm.getelementptr inbounds %[[SLOTS]][2]
// CHECK: %[[M:.*]] = llvm.mul %[[ONE]], %{{.*}} : i64
// CHECK: %[[A:.*]] = llvm.add %[[M]], %[[D]] : i64
// CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i64) : i64
// CHECK: %[[T:.*]] = llvm.mul %[[A]], %[[THREE]] : i64
// CHECK: %[[B:.*]] = llvm.add %[[T]], %[[TWO]] : i64
// CHECK: llvm.getelementptr inbounds %{{.*}}[%[[B]]]

// CHECK-LABEL: llvm.func @annudf1_scan_finalize_a32(
// CHECK-SAME: i32, %{{[a-z0-9]+}}: i32, %[[ROW:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %[[SLOTS:[a-z0-9]+]]: !llvm.ptr
// CHECK: llvm.getelementptr inbounds %[[SLOTS]][0]
// CHECK: llvm.getelementptr inbounds %{{.*}}[%[[ROW]]]
