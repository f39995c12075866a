// RUN: annudf-opt %s --annudf-verify-abi --annudf-infer-combine --verify-diagnostics | FileCheck %s
// What it writes keeps the rules:
// RUN: annudf-opt %s --annudf-infer-combine 2>/dev/null | annudf-opt --annudf-verify-abi -o /dev/null

func.func private @twice(%a: f32) -> f32 {
  %r = arith.addf %a, %a : f32
  func.return %r : f32
}

// CHECK-LABEL: @sums
// CHECK: annudf.combine (%[[A:.*]]: f32, %[[B:.*]]: f64, %[[C:.*]]: i32, %[[A2:.*]]: f32, %[[B2:.*]]: f64, %[[C2:.*]]: i32) {
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[A]], %[[A2]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.maximumf %[[B]], %[[B2]] : f64
// CHECK-NEXT: %[[T:.*]] = arith.ori %[[C]], %[[C2]] : i32
// CHECK-NEXT: annudf.yield %[[R]], %[[S]], %[[T]] : f32, f64, i32
annudf.metric @sums order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %zero = arith.constant -0.0 : f32
    %least = arith.constant 3.0 : f64
    %bits = arith.constant 5 : i32
    annudf.yield %zero, %least, %bits : f32, f64, i32
  }
  annudf.update (%sum: f32, %most: f64, %seen: i32, %x: f32, %y: f32) {
    // A chain: fma, a difference whose other side is a term, a term by a helper and a branch.
    %s1 = math.fma %x, %y, %sum : f32
    %h = func.call @twice(%x) : (f32) -> f32
    %s2 = arith.subf %s1, %h : f32
    %c = arith.cmpf olt, %x, %y : f32
    %t = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    %s3 = arith.addf %t, %s2 : f32
    %wide = arith.extf %x : f32 to f64
    %m = arith.maximumf %wide, %most : f64
    %bit = arith.extui %c : i1 to i32
    %b = arith.ori %seen, %bit : i32
    annudf.yield %s3, %m, %b : f32, f64, i32
  }
  annudf.finalize (%sum: f32, %most: f64, %seen: i32) {
    annudf.yield %sum : f32
  }
}

// One that is written stays.
// CHECK-LABEL: @written
// CHECK: annudf.combine
// CHECK: math.fma
// CHECK-NOT: annudf.combine
annudf.metric @written order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = math.fma %x, %y, %acc : f32
    annudf.yield %r : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %one = arith.constant 1.0 : f32
    %r = math.fma %acc, %one, %other : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: @strict
// CHECK-NOT: annudf.combine
annudf.metric @strict order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = math.fma %x, %y, %acc : f32
    annudf.yield %r : f32
  }
}

// Both parts would begin with 1.
// CHECK-LABEL: @begins
annudf.metric @begins order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 1.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0 of the accumulator does not begin with the constant that changes nothing; write annudf.combine}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.addf %acc, %x : f32
    annudf.yield %r : f32
  }
}

// Alternating signs: a sum that is subtracted from.
annudf.metric @alternates order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0 of the accumulator is not joined with terms by one of +, *, min, max, and, or, xor; write annudf.combine}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.subf %x, %acc : f32
    annudf.yield %r : f32
  }
}

// Two operations.
annudf.metric @horner order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %m = arith.mulf %acc, %x : f32
    %r = arith.addf %m, %y : f32
    annudf.yield %r : f32
  }
}

// The term depends on the accumulator, through a product, a branch, another field.
annudf.metric @factor order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = math.fma %acc, %x, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @branch order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf olt, %x, %y : f32
    %t = scf.if %c -> (f32) {
      scf.yield %acc : f32
    } else {
      scf.yield %y : f32
    }
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

annudf.metric @fields order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 1}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %r = arith.addf %a, %x : f32
    %s = arith.addf %b, %a : f32
    annudf.yield %r, %s : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %b : f32
  }
}

// Fields that change places.
annudf.metric @swapped order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-warning @below {{[N1] numerics(reassociate) has no effect: field 0}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %r = arith.addf %b, %x : f32
    %s = arith.addf %a, %y : f32
    annudf.yield %r, %s : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %b : f32
  }
}
