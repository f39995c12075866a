// A metric that is refused, reduced to what it is refused for. Module after module, the script is asked whether it still is.
// REQUIRES: annudf-reduce, annudf-opt
// RUN: annudf-reduce %s --annudf-reduce='test=%S/Inputs/shows-L3.sh' | FileCheck %s --implicit-check-not=math. --implicit-check-not=scf.
// RUN: not annudf-reduce %s --annudf-reduce='test=/bin/true' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not annudf-reduce %s --annudf-reduce='test=/no/such/test' 2>&1 | FileCheck %s --check-prefix=NO-TEST

// CHECK: annudf.metric @weighted order(min) coarse(l2) elements(f32) {
// CHECK-NEXT: %[[T:.*]] = annudf.capture "t" : !annudf.capture<16 x f32>
// CHECK-NEXT: annudf.init {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT: annudf.yield %[[ZERO]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: annudf.update (%[[ACC:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32) {
// CHECK-NEXT: %[[D:.*]] = annudf.index dim
// CHECK-NEXT: annudf.load %[[T]][%[[D]]] : !annudf.capture<16 x f32>
// CHECK-NEXT: annudf.yield %[[ACC]] : f32
// CHECK-NEXT: }
// CHECK-NEXT: }
// NO-TEST: error: the test '/no/such/test' cannot be run: No such file or directory; give the path of a program
// NOTHING: error: the test '/bin/true' does not exit with 1 for the module as it is, so there is nothing to keep while it becomes smaller
func.func private @helper(%a: f32) -> f32 {
  %r = math.absf %a : f32
  return %r : f32
}
annudf.metric @other order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
annudf.metric @weighted order(min) coarse(l2 max) elements(f32, f16, i8) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %p = annudf.capture "p" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %tv = annudf.load %t[%d] : !annudf.capture<16 x f32>
    %s = arith.subf %x, %y : f32
    %a = func.call @helper(%s) : (f32) -> f32
    %m = arith.mulf %a, %wd : f32
    %m2 = arith.mulf %m, %tv : f32
    %less = arith.cmpf olt, %x, %y : f32
    %m3 = scf.if %less -> f32 {
      scf.yield %m2 : f32
    } else {
      scf.yield %m : f32
    }
    %r = arith.addf %acc, %m3 : f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
    %pv = annudf.load %p[] : !annudf.capture<f32>
    %q = arith.divf %acc, %pv : f32
    annudf.yield %q : f32
  }
}
