// Elements of captures as they lie in memory, and as a body sees them.
// RUN: annudf-opt %s --annudf-verify-abi --annudf-lower-to-llvm | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: annudf-opt %s --annudf-verify-abi --annudf-lower-to-nvvm | FileCheck %s --check-prefixes=CHECK,DEVICE

annudf.metric @m order(min) coarse(l2) elements(f32) dims(3) {
  %h = annudf.capture "h" : !annudf.capture<dim x f16>
  %b = annudf.capture "b" : !annudf.capture<dim x bf16>
  %f = annudf.capture "f" : !annudf.capture<row x i1>
  %c = annudf.capture "c" : !annudf.capture<row x ui8>
  %t = annudf.capture "t" : !annudf.capture<256 x i64>
  %s = annudf.capture "s" : !annudf.capture<bf16>
  %k = annudf.capture "k" : !annudf.capture<i1>
  %v = annudf.capture "v" = dense<[1.0, -2.0, 3.0]> : tensor<3xbf16> : !annudf.capture<dim x bf16>
  %g = annudf.capture "g" = dense<[true, false, true]> : tensor<3xi1> : !annudf.capture<dim x i1>
  %u = annudf.capture "u" = dense<[255, 0, 1]> : tensor<3xui8> : !annudf.capture<dim x ui8>
  annudf.init {
    %0 = annudf.load %s[] : !annudf.capture<bf16>
    %1 = annudf.load %k[] : !annudf.capture<i1>
    %zero = arith.constant 0.0 : f32
    %r = arith.select %1, %0, %zero : f32
    annudf.yield %r : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %0 = annudf.load %h[%d] : !annudf.capture<dim x f16>
    %1 = annudf.load %b[%d] : !annudf.capture<dim x bf16>
    %2 = annudf.load %v[%d] : !annudf.capture<dim x bf16>
    %3 = annudf.load %g[%d] : !annudf.capture<dim x i1>
    %4 = annudf.load %u[%d] : !annudf.capture<dim x ui8>
    %5 = arith.extf %0 : f16 to f32
    %6 = arith.mulf %5, %1 : f32
    %7 = arith.addf %6, %2 : f32
    %8 = arith.uitofp %4 : i8 to f32
    %9 = arith.select %3, %7, %8 : f32
    annudf.yield %9 : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %0 = annudf.load %f[%row] : !annudf.capture<row x i1>
    %1 = annudf.load %c[%row] : !annudf.capture<row x ui8>
    // A code is inside a table of all codes.
    %i = arith.index_castui %1 : i8 to index
    %2 = annudf.load %t[%i] : !annudf.capture<256 x i64>
    %3 = arith.sitofp %2 : i64 to f32
    %4 = arith.select %0, %acc, %3 : f32
    annudf.yield %4 : f32
  }
}

// CHECK-DAG: llvm.mlir.global internal constant @annudf_table_7(dense<[16256, -16384, 16448]> : tensor<3xi16>)
// CHECK-DAG: llvm.mlir.global internal constant @annudf_table_8(dense<[1, 0, 1]> : tensor<3xi8>)
// CHECK-DAG: llvm.mlir.global internal constant @annudf_table_9(dense<[-1, 0, 1]> : tensor<3xi8>)

// A scalar is the low bits of its slot.
// CHECK-LABEL: llvm.func @annudf1_scan_init_a32(
// CHECK: %[[BITS:.*]] = llvm.trunc %{{.*}} : i64 to i16
// CHECK: %[[WIDE:.*]] = llvm.zext %[[BITS]] : i16 to i32
// CHECK: %[[HIGH:.*]] = llvm.shl %[[WIDE]], %{{.*}} : i32
// CHECK: llvm.bitcast %[[HIGH]] : i32 to f32
// CHECK: %[[BYTE:.*]] = llvm.trunc %{{.*}} : i64 to i8
// CHECK: llvm.icmp "ne" %[[BYTE]], %{{.*}} : i8

// CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
// HOST: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr -> f16
// DEVICE: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> f16
// HOST: %[[B:.*]] = llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr -> i16
// DEVICE: %[[B:.*]] = llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK: llvm.zext %[[B]] : i16 to i32
// CHECK: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr{{.*}} -> i16
// CHECK: %[[G:.*]] = llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr{{.*}} -> i8
// CHECK: llvm.icmp "ne" %[[G]], %{{.*}} : i8
// CHECK: llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr{{.*}} -> i8

// CHECK-LABEL: llvm.func @annudf1_scan_finalize_a32(
// CHECK: %[[F:.*]] = llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr{{.*}} -> i8
// CHECK: llvm.icmp "ne" %[[F]], %{{.*}} : i8
// CHECK: llvm.load %{{.*}} invariant {alignment = 1 : i64} : !llvm.ptr{{.*}} -> i8
// CHECK: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr{{.*}} -> i64
