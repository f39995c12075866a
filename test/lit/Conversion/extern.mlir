// RUN: annudf-opt %s --annudf-to-nvvm | FileCheck %s
// RUN: not annudf-opt %s --annudf-to-host 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: extern.mlir:[[#]]:{{[0-9]+}}: error: 'annudf.call' op annudf-lower-to-llvm: calls 'scaled', linked device code, which exists for GPUs only
// RUN: annudf-translate %s --annudf-to-nvvmir | FileCheck %s --check-prefix=NVVMIR
// What it does nobody verifies, so nothing is promised of it that would let a compiler drop a call.
// NVVMIR-DAG: declare float @scaled(float, float) nounwind{{$}}
// NVVMIR-DAG: declare i32 @annudf_by_value_counted(i32) nounwind{{$}}
// NVVMIR: call float @scaled(float

// Linked code is declared and called; what nothing calls is gone. numba's convention is met by a function of annudf's.
// CHECK-DAG: llvm.func @scaled(f32, f32) -> f32 attributes {{.*}}passthrough = ["annudf-linked"]
// CHECK-DAG: llvm.func @annudf_by_value_counted(i32) -> i32
// CHECK-NOT: unused
// CHECK: llvm.call @scaled(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.call @annudf_by_value_counted(%{{.*}}) : (i32) -> i32
annudf.extern @unused convention(c) (f32) -> f32 link(cuda_source "x")
annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source "x")
annudf.extern @counted convention(numba) (ui32) -> i32 link(cuda_source "x")
func.func private @helper(%a: f32, %b: f32) -> f32 {
  %r = annudf.call @scaled(%a, %b) : (f32, f32) -> f32
  return %r : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = func.call @helper(%x, %y) : (f32, f32) -> f32
    %i = arith.fptoui %d : f32 to i32
    %j = annudf.call @counted(%i) : (i32) -> i32
    %k = arith.sitofp %j : i32 to f32
    %r = arith.addf %acc, %k : f32
    annudf.yield %r : f32
  }
}
