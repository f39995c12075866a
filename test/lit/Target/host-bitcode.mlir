// RUN: annudf-translate %s --annudf-to-host-bitcode -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = arith.subf %x, %y : f32
    %1 = math.fma %0, %0, %acc : f32
    annudf.yield %1 : f32
  }
}

// Nothing that ties it to one machine of the architecture.
// CHECK-NOT: target-cpu
// CHECK-NOT: target-features
// CHECK: define i32 @annudf1_scan_init_a32(i32 %{{.*}}, i32 %{{.*}}, i32 %{{.*}}, ptr %{{.*}})
// CHECK: define i32 @annudf1_scan_update_a32_x32(
// CHECK: define i64 @annudf1_scan_contract()
// CHECK-NOT: target-cpu
// CHECK-NOT: target-features
