// RUN: annudf-opt %s --annudf-infer-properties --verify-diagnostics | FileCheck %s

// Nothing is changed.
// CHECK-LABEL: @l2 order(min) coarse(l2) elements(f32) {
annudf.metric @l2 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds x^2 - 2 x y + y^2 (roundings: 2 of f32); symmetric; a function of x - y; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// Through helpers, in either order. A factor takes its roundings into a product.
func.func private @square(%a: f32) -> f32 {
  %r = arith.mulf %a, %a : f32
  func.return %r : f32
}
func.func private @weigh(%w: f32, %a: f32) -> f32 {
  %s = func.call @square(%a) : (f32) -> f32
  %r = arith.mulf %s, %w : f32
  func.return %r : f32
}
annudf.metric @weighted order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w[query][dim] x^2 - 2 w[query][dim] x y + w[query][dim] y^2 (roundings: 4 of f32); symmetric; a function of x - y; terms >= 0 where w >= 0; never falls where w >= 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %q = annudf.index query
    %v = annudf.load %w[%q, %i] : !annudf.capture<query x dim x f32>
    %d = arith.subf %y, %x : f32
    %t = func.call @weigh(%v, %d) : (f32, f32) -> f32
    %r = arith.addf %t, %acc : f32
    annudf.yield %r : f32
  }
}

// All six coefficients; a divisor; a table of constants; integers of captures; no sign.
annudf.metric @six order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %V = annudf.capture "V" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<4 x f32>
  %n = annudf.capture "n" : !annudf.capture<i8>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w[dim] x^2 - V x y + |w[dim]| y^2 + (t[3] / V) x - 3 n y + (u - w[dim]) (roundings: 4 of f32)}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %v = annudf.load %V[] : !annudf.capture<f32>
    %c3 = arith.constant 3 : index
    %t3 = annudf.load %t[%c3] : !annudf.capture<4 x f32>
    %ni = annudf.load %n[] : !annudf.capture<i8>
    %nf = arith.sitofp %ni : i8 to f32
    %ui = annudf.load %u[] : !annudf.capture<ui32>
    %uf = arith.uitofp %ui : i32 to f32
    %three = arith.constant -3.0 : f32
    %wx = arith.mulf %wi, %x : f32
    %vy = arith.mulf %y, %v : f32
    %a = arith.subf %wx, %vy : f32
    %tv = arith.divf %t3, %v : f32
    %b = arith.addf %a, %tv : f32
    %bx = arith.mulf %b, %x : f32
    %wa = math.absf %wi : f32
    %way = arith.mulf %wa, %y : f32
    %n3 = arith.mulf %nf, %three : f32
    %c = arith.addf %way, %n3 : f32
    %e = arith.subf %uf, %wi : f32
    %f = math.fma %c, %y, %e : f32
    %r0 = arith.addf %acc, %bx : f32
    %r = arith.addf %r0, %f : f32
    annudf.yield %r : f32
  }
}

// By hand, where the rounded terms need not be symmetric: but for rounding.
annudf.metric @expanded order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds x^2 - 2 x y + y^2 (roundings: 4 of f32); symmetric but for rounding; a function of x - y but for rounding}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %two = arith.constant 2.0 : f32
    %xx = arith.mulf %x, %x : f32
    %xy = arith.mulf %x, %y : f32
    %yy = arith.mulf %y, %y : f32
    %t = arith.mulf %two, %xy : f32
    %s = arith.subf %xx, %t : f32
    %z = arith.addf %s, %yy : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

// Branches that agree, whatever decides; a side that is NaN is not spoken of.
annudf.metric @branches order(max) coarse(l2) elements(f32) {
  %V = annudf.capture "V" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds -(1 / V[dim]) x^2 + (2 / V[dim]) x y - (1 / V[dim]) y^2 (roundings: 4 of f32); symmetric but for rounding; a function of x - y but for rounding; terms <= 0 where V > 0; never grows where V > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %v = annudf.load %V[%i] : !annudf.capture<dim x f32>
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0x7FC00000 : f32
    %c = arith.cmpf olt, %x, %y : f32
    %d = scf.if %c -> (f32) {
      %a = arith.subf %y, %x : f32
      %n = arith.negf %a : f32
      scf.yield %n : f32
    } else {
      %b = arith.subf %x, %y : f32
      scf.yield %b : f32
    }
    %p = arith.mulf %d, %d : f32
    %q = arith.divf %p, %v : f32
    %known = arith.cmpf ogt, %v, %zero : f32
    %t = arith.select %known, %q, %none : f32
    %r = arith.subf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Other formats; nothing is rounded on the way to a wider one.
annudf.metric @wide order(min) coarse(l2) elements(f32) {
  %h = annudf.capture "h" : !annudf.capture<dim x f16>
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  // expected-remark @below {{[N4] field 0: adds h[dim] x^2 - 2 h[dim] x y + h[dim] y^2 (roundings: 1 of f32 and 3 of f64); symmetric; a function of x - y; terms >= 0 where h >= 0; never falls where h >= 0}}
  annudf.update (%acc: f64, %x: f32, %y: f32) {
    %i = annudf.index dim
    %hi = annudf.load %h[%i] : !annudf.capture<dim x f16>
    %v = arith.extf %hi : f16 to f64
    %a = arith.extf %x : f32 to f64
    %b = arith.extf %y : f32 to f64
    %d = arith.subf %a, %b : f64
    %s = arith.mulf %d, %d : f64
    %f = arith.truncf %s : f64 to f32
    %w = arith.extf %f : f32 to f64
    %r = math.fma %w, %v, %acc : f64
    annudf.yield %r : f64
  }
}

// What is no polynomial may be symmetric, and more.
annudf.metric @chebyshev order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0xFF800000 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %a = math.absf %d : f32
    %r = arith.maximumf %acc, %a : f32
    annudf.yield %r : f32
  }
}

// Canberra: |x| + |y| is the same for y and x, and no -0.
annudf.metric @canberra order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0.0 : f32
    %d = arith.subf %x, %y : f32
    %n = math.absf %d : f32
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %s = arith.addf %ax, %ay : f32
    %q = arith.divf %n, %s : f32
    %c = arith.cmpf ueq, %d, %zero : f32
    %t = arith.select %c, %zero, %q : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// |x - y| as one writes it without math.absf.
annudf.metric @branch order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0.0 : f32
    %d = arith.subf %x, %y : f32
    %c = arith.cmpf olt, %d, %zero : f32
    %t = scf.if %c -> (f32) {
      %n = arith.negf %d : f32
      scf.yield %n : f32
    } else {
      scf.yield %d : f32
    }
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// Fields by themselves; the largest of integers; a field that stays.
annudf.metric @fields order(min) coarse(l2) elements(f32) accumulator(f32, i32, u32, f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    %1 = arith.constant 0 : i32
    annudf.yield %0, %1, %1, %0 : f32, i32, i32, f32
  }
  // expected-remark @below {{[N4] field 0: adds x y (exact); symmetric}}
  // expected-remark @below {{[N4] field 1: never falls}}
  // expected-remark @below {{[N4] field 2: never grows}}
  // expected-remark @below {{[N4] field 3: adds 0 (exact); symmetric; a function of x - y; terms >= 0; never falls}}
  annudf.update (%a: f32, %b: i32, %c: i32, %e: f32, %x: f32, %y: f32) {
    %i = arith.fptosi %x : f32 to i32
    %0 = math.fma %y, %x, %a : f32
    %1 = arith.maxsi %b, %i : i32
    %2 = arith.minui %i, %c : i32
    annudf.yield %0, %1, %2, %e : f32, i32, i32, f32
  }
  annudf.finalize (%a: f32, %b: i32, %c: i32, %e: f32) {
    annudf.yield %a : f32
  }
}

// maxnumf forgets a NaN, which a field that begins as a number never is.
annudf.metric @forgetful order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: never grows}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %p = arith.remf %x, %y : f32
    %r = arith.minnumf %p, %acc : f32
    annudf.yield %r : f32
  }
}

// (a b) b has the sign of a.
annudf.metric @twice order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds w[dim] x^2 - 2 w[dim] x y + w[dim] y^2 (roundings: 4 of f32); symmetric; a function of x - y; terms >= 0 where w >= 0; never falls where w >= 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %d = arith.subf %x, %y : f32
    %wd = arith.mulf %wi, %d : f32
    %t = arith.mulf %wd, %d : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// In either order, of what is negative; and its sign bit, where it divides.
annudf.metric @twice_below order(max) coarse(l2) elements(f32) {
  %V = annudf.capture "V" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms <= 0 where V > 0; never grows where V > 0}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %v = annudf.load %V[%i] : !annudf.capture<dim x f32>
    %c = arith.constant -2.0 : f32
    %d = arith.subf %x, %y : f32
    %cd = arith.mulf %d, %c : f32
    %a = arith.mulf %d, %cd : f32
    %vd = arith.mulf %v, %d : f32
    %b = arith.mulf %vd, %d : f32
    %t = arith.divf %a, %b : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}
