// RUN: annudf-translate %s --annudf-to-nvvmir | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0xFF800000 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %0 = arith.negf %x : f32
    %1 = math.absf %0 : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %wd, %2 : f32
    %4 = arith.maximumf %acc, %3 : f32
    annudf.yield %4 : f32
  }
}

// CHECK: target datalayout = "e-p:64:64:64-i1:8:8-
// CHECK: target triple = "nvptx64-nvidia-cuda"
// CHECK-DAG: declare float @__nv_expf(float) nounwind readnone
// CHECK-DAG: declare float @llvm.nvvm.fabs.f(float)
// CHECK-DAG: declare float @llvm.maxnum.f32(float, float)

// The prototypes of annudf_abi.h, as nvcc has them: slots is a pointer to i64.
// CHECK: define i32 @annudf1_scan_init_a32(i32 %a0, i32 %a1, i32 %a2, i64* %s3) alwaysinline nounwind {
// CHECK: ret i32 -8388608
// CHECK: define i32 @annudf1_scan_update_a32_x32(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %a4, i64 %a5, i32 %a6, i32 %a7, i64* %s8) alwaysinline nounwind {
// CHECK: load i64, i64* %{{.*}}, align 8, !invariant.load !1
// CHECK: inttoptr i64 %{{.*}} to i8 addrspace(1)*
// CHECK: load float, float addrspace(1)* %{{.*}}, align 4, !invariant.load !1
// CHECK: fsub float 0x8000000000000000, %
// CHECK: call float @llvm.nvvm.fabs.f(
// CHECK: call float @__nv_expf(
// CHECK: fmul float
// CHECK: fcmp uno float
// CHECK: call float @llvm.maxnum.f32(
// CHECK: select i1 %{{.*}}, float 0x7FF8000000000000, float

// CHECK: define i64 @annudf1_scan_contract() alwaysinline nounwind {
// CHECK-NOT: declare i32 @annudf1_
// CHECK: !nvvmir.version = !{!0}
// CHECK: !0 = !{i32 2, i32 0}
