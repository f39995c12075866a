// RUN: annudf-opt %s --annudf-infer-properties=form -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=N5 --implicit-check-not=N6

annudf.metric @rooted order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %d = arith.subf %x, %y : f32
    %s = arith.mulf %d, %d : f32
    %r = math.fma %v, %s, %acc : f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
    %s = math.sqrt %acc : f32
    %n = arith.negf %s : f32
    annudf.yield %n : f32
  }
}
// CHECK: :[[@LINE-20]]:1: remark: [N5] has the form w[dim] x^2 - 2 w[dim] x y + w[dim] y^2, of x - y, finalize falls

annudf.metric @l1 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %s = math.absf %d : f32
    %r = arith.addf %acc, %s : f32
    annudf.yield %r : f32
  }
}
// CHECK: :[[@LINE-5]]:10: remark: [N6] has no form: 'math.absf' of x and y is no polynomial

annudf.metric @cosine order(min) coarse(cosine) elements(f32) accumulator(f32, f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %r = math.fma %x, %y, %a : f32
    %s = math.fma %y, %y, %b : f32
    annudf.yield %r, %s : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    %q = arith.divf %a, %b : f32
    annudf.yield %q : f32
  }
}
// CHECK: :[[@LINE-15]]:1: remark: [N6] has no form: its accumulator is not one, three or five f32

annudf.metric @weighted_cosine order(min) coarse(cosine) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0, %0 : f32, f32, f32
  }
  annudf.update (%a: f32, %b: f32, %c: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %wx = arith.mulf %wd, %x : f32
    %wy = arith.mulf %wd, %y : f32
    %r = math.fma %wx, %y, %a : f32
    %s = math.fma %wx, %x, %b : f32
    %t = math.fma %wy, %y, %c : f32
    annudf.yield %r, %s, %t : f32, f32, f32
  }
  annudf.finalize (%a: f32, %b: f32, %c: f32) {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %bc = arith.mulf %b, %c : f32
    %n = math.sqrt %bc : f32
    %q = arith.divf %a, %n : f32
    %is = arith.cmpf oeq, %n, %zero : f32
    %p = arith.select %is, %zero, %q : f32
    %e = arith.subf %one, %p : f32
    annudf.yield %e : f32
  }
}
// CHECK: :[[@LINE-28]]:1: remark: [N5] has the form normalised: w[dim] x y / sqrt(w[dim] x^2 * w[dim] y^2), finalize falls
