// RUN: annudf-opt %s --annudf-infer-properties --verify-diagnostics -o /dev/null

// Each is next to a formula of which more is proved; test/Analysis/weakened.py sees that these are what
// keeps a rule as strict as it is.

// With w = -0 the divisor is -0.
annudf.metric @product_of_divisor order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0 where w > 0; never falls where w > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %p = arith.mulf %wv, %ay : f32
    %t = arith.divf %ax, %p : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// One of the two has to be above 0: -0 - 0 is -0.
annudf.metric @sum_as_divisor order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y; terms >= 0 where s >= 0 and w > 0; never falls where s >= 0 and w > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %p = arith.addf %wv, %sv : f32
    %t = arith.divf %sv, %p : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// |y| - |x|.
annudf.metric @difference order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %n = arith.negf %ax : f32
    %m = arith.negf %ay : f32
    %t = arith.subf %n, %m : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// -|x| - |y|.
annudf.metric @both_below order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms <= 0; never grows}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %n = arith.negf %ax : f32
    %t = arith.subf %n, %ay : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Infinite below 0.
annudf.metric @by_minus_zero order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %z = arith.constant -0.0 : f32
    %t = arith.divf %ax, %z : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Of NaN and a number the number.
annudf.metric @number_or_nan order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %z = arith.constant 0x7FC00000 : f32
    %t = arith.maxnumf %x, %z : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// A quotient below 0.
annudf.metric @below order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms <= 0 where w > 0; never grows where w > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %n = arith.negf %ax : f32
    %t = arith.divf %n, %wv : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// -0 / s is -0.
annudf.metric @quotient_as_divisor order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0 where s > 0 and w > 0; never falls where s > 0 and w > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %q = arith.divf %wv, %sv : f32
    %t = arith.divf %ax, %q : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Of -0 < 0 ? 0 : -0 it is -0.
annudf.metric @magnitude_as_divisor order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %d, %z : f32
    %n = arith.negf %d : f32
    %a = arith.select %c, %n, %d : f32
    %t = arith.divf %ax, %a : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// The root of -0 is -0.
annudf.metric @root_as_divisor order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0 where w > 0; never falls where w > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %q = math.sqrt %wv : f32
    %t = arith.divf %ax, %q : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// |x| may be NaN, and then it is y.
annudf.metric @may_be_nan order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %t = arith.maxnumf %ax, %y : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// The same below 0.
annudf.metric @may_be_nan_below order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %n = arith.negf %ax : f32
    %t = arith.minnumf %n, %y : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// One side may be NaN.
annudf.metric @may_be_chosen_nan order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %one = arith.constant 1.0 : f32
    %c = arith.cmpf olt, %x, %y : f32
    %q = arith.select %c, %one, %ax : f32
    %t = arith.maxnumf %q, %y : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// 0 is a number.
annudf.metric @is_a_number order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %one = arith.constant 0.0 : f32
    %t = arith.maxnumf %one, %y : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// x / 2 is 0.5 x, a product that may be fused.
annudf.metric @halves order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds (1 / 2) x + (1 / 2) y (roundings: 2 of f32); symmetric but for rounding}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %two = arith.constant 2.0 : f32
    %a = arith.divf %x, %two : f32
    %b = arith.divf %y, %two : f32
    %t = arith.addf %a, %b : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// And so is x + x.
annudf.metric @twice order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds 2 x + 2 y (roundings: 2 of f32); symmetric but for rounding}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %a = arith.addf %x, %x : f32
    %b = arith.addf %y, %y : f32
    %t = arith.addf %a, %b : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// One of the products may be fused with the difference.
annudf.metric @scaled_difference order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w w x^2 - 2 w w x y + w w y^2 (roundings: 5 of f32); symmetric but for rounding; a function of x - y but for rounding; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %a = arith.mulf %x, %wv : f32
    %b = arith.mulf %y, %wv : f32
    %e = arith.subf %a, %b : f32
    %t = arith.mulf %e, %e : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// The product may be fused in one of them.
annudf.metric @largest_of_sums order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0 where s >= 0; never falls where s >= 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %a = math.fma %x, %x, %wv : f32
    %p = arith.mulf %x, %x : f32
    %q = arith.mulf %y, %y : f32
    %e = arith.addf %p, %sv : f32
    %f = arith.addf %q, %sv : f32
    %t = arith.maximumf %e, %f : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Nothing is left to fuse.
annudf.metric @largest_of_fused order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; terms >= 0 where s >= 0; never falls where s >= 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %e = math.fma %x, %x, %sv : f32
    %f = math.fma %y, %y, %sv : f32
    %t = arith.maximumf %e, %f : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// The difference in f64 does not say what that in f32 is.
annudf.metric @two_formats order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds x^2 - 2 x y + y^2 (roundings: 3 of f32 and 1 of f64); symmetric; a function of x - y but for rounding}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %a = arith.extf %x : f32 to f64
    %b = arith.extf %y : f32 to f64
    %e = arith.subf %a, %b : f64
    %f = arith.truncf %e : f64 to f32
    %t = arith.mulf %d, %f : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Of sides that agree the one that is rounded more counts.
annudf.metric @way_round order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w x (roundings: 3 of f32)}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %c = arith.cmpf olt, %x, %y : f32
    %a = arith.addf %x, %y : f32
    %b = arith.subf %a, %y : f32
    %e = arith.select %c, %b, %x : f32
    %t = arith.mulf %e, %wv : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Whichever side it is.
annudf.metric @other_way_round order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w x (roundings: 3 of f32)}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %c = arith.cmpf olt, %x, %y : f32
    %a = arith.addf %x, %y : f32
    %b = arith.subf %a, %y : f32
    %e = arith.select %c, %x, %b : f32
    %t = arith.mulf %e, %wv : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// 32 bits have no place in 24.
annudf.metric @wide_integer order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds u x (roundings: 2 of f32)}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %i = annudf.load %u[] : !annudf.capture<ui32>
    %f = arith.uitofp %i : i32 to f32
    %t = arith.mulf %f, %x : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// y - x is not 1 where x - y is.
annudf.metric @odd_and_one order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: a function of x - y; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf oeq, %d, %one : f32
    %t = arith.select %c, %one, %zero : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// The last operand is no factor: no square.
annudf.metric @two_fmas order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %a = math.fma %x, %y, %sv : f32
    %b = math.fma %x, %sv, %y : f32
    %t = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Two conditions of the same values: no square.
annudf.metric @two_predicates order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %wv = annudf.load %w[] : !annudf.capture<f32>
    %sv = annudf.load %s[] : !annudf.capture<f32>
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %d = arith.subf %x, %y : f32
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf olt, %x, %zero : f32
    %e = arith.cmpf oge, %x, %zero : f32
    %a = arith.select %c, %x, %wv : f32
    %b = arith.select %e, %x, %wv : f32
    %t = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// As u32 the field is not what maxsi compares.
annudf.metric @signed_as_unsigned order(min) coarse(l2) elements(f32) accumulator(u32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    %i = arith.fptosi %x : f32 to i32
    %r = arith.maxsi %acc, %i : i32
    annudf.yield %r : i32
  }
}

// a and b look the same, but of a alone the product is fused, as that of b is used twice: no square. For x = y =
// 1 + 2^-12 they are 2^-25 and -2^-25.
annudf.metric @fused_once order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.constant 0xBF801000 : f32
    %e = arith.constant 0xB3000000 : f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %c : f32
    %a = arith.addf %s, %e : f32
    %q = arith.mulf %x, %y : f32
    %other = arith.negf %q : f32
    %r = arith.addf %q, %c : f32
    %b = arith.addf %r, %e : f32
    %t = arith.mulf %a, %b : f32
    %next = arith.addf %acc, %t : f32
    annudf.yield %next : f32
  }
}

// Nor is it the magnitude of one value.
annudf.metric @magnitude_of_two order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.constant 0xBF801000 : f32
    %e = arith.constant 0xB3000000 : f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %c : f32
    %a = arith.addf %s, %e : f32
    %q = arith.mulf %x, %y : f32
    %other = arith.negf %q : f32
    %r = arith.addf %q, %c : f32
    %b = arith.addf %r, %e : f32
    %zero = arith.constant 0.0 : f32
    %less = arith.cmpf olt, %a, %zero : f32
    %minus = arith.negf %b : f32
    %t = arith.select %less, %minus, %b : f32
    %next = arith.addf %acc, %t : f32
    annudf.yield %next : f32
  }
}

// Nor the larger of a value and its negative, which would be symmetric.
annudf.metric @larger_of_two order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: a function of x - y}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %w = arith.constant 0x3F800800 : f32
    %d = arith.subf %x, %y : f32
    %p = arith.mulf %d, %w : f32
    %q = arith.mulf %d, %w : f32
    %minus = arith.negf %q : f32
    %a = arith.addf %p, %minus : f32
    %b = arith.addf %q, %minus : f32
    %n = arith.negf %b : f32
    %t = arith.maximumf %a, %n : f32
    %next = arith.addf %acc, %t : f32
    annudf.yield %next : f32
  }
}

// u >= 0 always; the field takes its bits for an i32.
annudf.metric @unsigned_as_signed order(min) coarse(l2) elements(i8) accumulator(i32) {
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y; never falls}}
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %v = annudf.load %u[] : !annudf.capture<ui32>
    %r = arith.maxsi %acc, %v : i32
    annudf.yield %r : i32
  }
}
