// A metric may have any name, also one that a lowering gives or calls.
// RUN: annudf-opt %s --annudf-to-host=metric=annudf_body_update | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host=metric=annudf_helper_f_0 | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host=metric=annudf1_scan_init_a32 | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host=metric=annudf1_scan_contract | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host=metric=annudf_metric | FileCheck %s
// RUN: annudf-opt %s --annudf-to-host=metric=powf | FileCheck %s

// CHECK-NOT: helper
// CHECK: llvm.call_intrinsic "llvm.pow"
// CHECK-NOT: @f

func.func private @f(%a: f32) -> f32 {
  %0 = math.powf %a, %a : f32
  func.return %0 : f32
}
annudf.metric @annudf_body_update order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
annudf.metric @annudf_helper_f_0 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
annudf.metric @annudf1_scan_init_a32 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
annudf.metric @annudf1_scan_contract order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
annudf.metric @annudf_metric order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
annudf.metric @powf order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}
