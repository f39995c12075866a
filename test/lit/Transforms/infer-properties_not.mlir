// RUN: annudf-opt %s --annudf-infer-properties=explain --verify-diagnostics -o /dev/null

annudf.metric @last order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: the yielded value does not depend on the field}}
    %r = arith.subf %x, %y : f32
    annudf.yield %r : f32
  }
}

annudf.metric @argument order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: the hook yields another argument in place of the field}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %x : f32
  }
}

annudf.metric @absolute order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %s = arith.addf %acc, %d : f32
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: 'math.absf' does not join the field with a term by +, *, min, max, and, or, xor}}
    %r = math.absf %s : f32
    annudf.yield %r : f32
  }
}

annudf.metric @mixed order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: 'arith.addf' joins the field by another operation than the last one does}}
    %s = arith.addf %acc, %x : f32
    %r = arith.mulf %s, %y : f32
    annudf.yield %r : f32
  }
}

annudf.metric @from order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: 'arith.subf' subtracts the field from a term}}
    %r = arith.subf %x, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @doubled order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %s = arith.mulf %acc, %x : f32
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: 'arith.addf' joins the field with what depends on the accumulator}}
    %r = arith.addf %acc, %s : f32
    annudf.yield %r : f32
  }
}

annudf.metric @masked order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf une, %x, %y : f32
    %s = arith.addf %acc, %x : f32
    // expected-remark @below {{[N3] field 0 is not proved to be the field joined with terms: 'arith.select' does not join the field with a term by +, *, min, max, and, or, xor}}
    %r = arith.select %c, %s, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @integers order(min) coarse(l2) elements(i8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric, to be a function of x - y, to have terms of one sign: 'arith.subi' is not known to this analysis}}
    %d = arith.subi %x, %y : i32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: the field is no sum of floats}}
    // expected-remark @below {{[N3] field 0 is not proved to be monotone: sums of integers wrap around}}
    %r = arith.addi %acc, %d : i32
    annudf.yield %r : i32
  }
}

annudf.metric @product order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 1.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: a function of x - y}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.subf' changes its sign when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign: 'arith.subf' may give either sign}}
    %d = arith.subf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: the field is no sum of floats}}
    // expected-remark @below {{[N3] field 0 is not proved to be monotone: 'arith.mulf' is neither a sum nor the largest or least of what the field counts}}
    %r = arith.mulf %acc, %d : f32
    annudf.yield %r : f32
  }
}

annudf.metric @l1 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y; terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'math.absf' of x and y is no polynomial}}
    %a = math.absf %d : f32
    %r = arith.addf %acc, %a : f32
    annudf.yield %r : f32
  }
}

annudf.metric @cube order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: a function of x - y}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.subf' may give either sign}}
    %d = arith.subf %x, %y : f32
    %s = arith.mulf %d, %d : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.mulf' gives a power of x and y above 2}}
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.mulf' changes its sign when x and y are exchanged}}
    %t = arith.mulf %s, %d : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

annudf.metric @power order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %p = arith.constant 2.0 : f32
    %d = arith.subf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: 'math.powf' is not known to this analysis}}
    %a = math.powf %d, %p : f32
    %r = arith.addf %acc, %a : f32
    annudf.yield %r : f32
  }
}

annudf.metric @flags order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: 'arith.mulf' has flags that let devices give different results}}
    %s = arith.mulf %d, %d fastmath<reassoc> : f32
    %r = arith.addf %acc, %s : f32
    annudf.yield %r : f32
  }
}

annudf.metric @flagged_sum order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %s = arith.mulf %d, %d fastmath<contract> : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: 'arith.addf' has flags that let devices give different results}}
    %r = arith.addf %acc, %s fastmath<reassoc> : f32
    annudf.yield %r : f32
  }
}

annudf.metric @ratio order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.addf' uses x or y outside of x - y}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.addf' may give either sign}}
    %s = arith.addf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.divf' divides by a value that is neither a constant nor an entry of a capture}}
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.divf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    %q = arith.divf %x, %s : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @by_zero order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %z = arith.constant 0.0 : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.divf' divides by a value that is neither a constant nor an entry of a capture}}
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.divf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.divf' uses x or y outside of x - y}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.divf' may give either sign}}
    %q = arith.divf %x, %z : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @infinite order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: a constant is not finite}}
    %z = arith.constant 0x7F800000 : f32
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.mulf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.mulf' uses x or y outside of x - y}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.mulf' may give either sign}}
    %q = arith.mulf %x, %z : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @rows order(min) coarse(l2) elements(f32) {
  %b = annudf.capture "b" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index row
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: it loads "b" at an index that is not dim, query or a constant}}
    %v = annudf.load %b[%i] : !annudf.capture<row x f32>
    %q = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @row_number order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index row
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: 'arith.index_cast' is not known to this analysis}}
    %j = arith.index_cast %i : index to i32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.sitofp' converts an integer that is not an entry of a capture}}
    %v = arith.sitofp %j : i32 to f32
    %q = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @other_sign order(min) coarse(l2) elements(f32) {
  %u = annudf.capture "u" : !annudf.capture<ui8>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.load %u[] : !annudf.capture<ui8>
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.sitofp' reads the integers of capture "u" with the wrong signedness}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.sitofp' may give either sign}}
    %v = arith.sitofp %i : i8 to f32
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.mulf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.mulf' uses x or y outside of x - y}}
    %q = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @branches order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.cmpf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.cmpf' uses x or y outside of x - y}}
    %c = arith.cmpf olt, %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: its two sides are x and x - y}}
    %q = scf.if %c -> (f32) {
    scf.yield %x : f32
    } else {
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.subf' may give either sign}}
    %d = arith.subf %x, %y : f32
    scf.yield %d : f32
    }
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @larger order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: symmetric}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'arith.maximumf' is no polynomial}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.maximumf' uses x or y outside of x - y}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.maximumf' may give either sign}}
    %q = arith.maximumf %x, %y : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @loop order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %l = arith.constant 0 : index
    %h = arith.constant 2 : index
    %s = arith.constant 1 : index
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: 'scf.for' is not known to this analysis}}
    %q = scf.for %i = %l to %h step %s iter_args(%a = %x) -> (f32) {
    %n = arith.mulf %a, %y : f32
    scf.yield %n : f32
    }
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @two_signs order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'math.absf' of x and y is no polynomial}}
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'math.absf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'math.absf' uses x or y outside of x - y}}
    %a = math.absf %x : f32
    %b = math.absf %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: its terms have two signs}}
    %s = arith.addf %acc, %a : f32
    %r = arith.subf %s, %b : f32
    annudf.yield %r : f32
  }
}

// Where -w is -0 the quotient is -inf, so that w <= 0 is not enough.
annudf.metric @by_minus_zero order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'math.absf' of x and y is no polynomial}}
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'math.absf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'math.absf' uses x or y outside of x - y}}
    %a = math.absf %x : f32
    %i = annudf.index dim
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %n = arith.negf %v : f32
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.divf' may give either sign}}
    %q = arith.divf %a, %n : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @begins_as_nan order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0x7FC00000 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: a function of x - y}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.subf' changes its sign when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign: 'arith.subf' may give either sign}}
    %d = arith.subf %x, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: the field is no sum of floats}}
    // expected-remark @below {{[N3] field 0 is not proved to be monotone: the field may begin as NaN, which 'arith.maxnumf' forgets}}
    %r = arith.maxnumf %acc, %d : f32
    annudf.yield %r : f32
  }
}

annudf.metric @unsigned_as_signed order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric, to be a function of x - y, to have terms of one sign: 'arith.fptosi' is not known to this analysis}}
    %i = arith.fptosi %x : f32 to i32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: the field is no sum of floats}}
    // expected-remark @below {{[N3] field 0 is not proved to be monotone: 'arith.maxui' is neither a sum nor the largest or least of what the field counts}}
    %r = arith.maxui %acc, %i : i32
    annudf.yield %r : i32
  }
}

// One of the squares might be fused with the sum, and which is not said.
annudf.metric @other_pair order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: terms >= 0; never falls}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.mulf' uses x or y outside of x - y}}
    %a = arith.mulf %x, %x : f32
    %b = arith.mulf %y, %y : f32
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.addf' may be fused with one of its operands and not with the other}}
    %s = arith.addf %a, %b : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: 'math.absf' of x and y is no polynomial}}
    %q = math.absf %s : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @powers order(min) coarse(l2) elements(f32) {
  %s = annudf.capture "s" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %p0 = annudf.load %s[] : !annudf.capture<f32>
    %p1 = arith.mulf %p0, %p0 : f32
    %p2 = arith.mulf %p1, %p1 : f32
    %p3 = arith.mulf %p2, %p2 : f32
    %p4 = arith.mulf %p3, %p3 : f32
    %p5 = arith.mulf %p4, %p4 : f32
    %p6 = arith.mulf %p5, %p5 : f32
    %p7 = arith.mulf %p6, %p6 : f32
    %p8 = arith.mulf %p7, %p7 : f32
    %p9 = arith.mulf %p8, %p8 : f32
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: it is rounded more than 1000 times}}
    %p10 = arith.mulf %p9, %p9 : f32
    %p11 = arith.mulf %p10, %p10 : f32
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.mulf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.mulf' uses x or y outside of x - y}}
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.mulf' may give either sign}}
    %q = arith.mulf %x, %p11 : f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

// Helpers that call another twice.
func.func private @h0(%a: f32) -> f32 {
  %b = func.call @h1(%a) : (f32) -> f32
  // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y, to be symmetric, to be a function of x - y, to have terms of one sign, to be monotone: the update takes more than 4096 operations}}
  %c = func.call @h1(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h1(%a: f32) -> f32 {
  %b = func.call @h2(%a) : (f32) -> f32
  %c = func.call @h2(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h2(%a: f32) -> f32 {
  %b = func.call @h3(%a) : (f32) -> f32
  %c = func.call @h3(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h3(%a: f32) -> f32 {
  %b = func.call @h4(%a) : (f32) -> f32
  %c = func.call @h4(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h4(%a: f32) -> f32 {
  %b = func.call @h5(%a) : (f32) -> f32
  %c = func.call @h5(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h5(%a: f32) -> f32 {
  %b = func.call @h6(%a) : (f32) -> f32
  %c = func.call @h6(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h6(%a: f32) -> f32 {
  %b = func.call @h7(%a) : (f32) -> f32
  %c = func.call @h7(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h7(%a: f32) -> f32 {
  %b = func.call @h8(%a) : (f32) -> f32
  %c = func.call @h8(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h8(%a: f32) -> f32 {
  %b = func.call @h9(%a) : (f32) -> f32
  %c = func.call @h9(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h9(%a: f32) -> f32 {
  %b = func.call @h10(%a) : (f32) -> f32
  %c = func.call @h10(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h10(%a: f32) -> f32 {
  %b = func.call @h11(%a) : (f32) -> f32
  %c = func.call @h11(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h11(%a: f32) -> f32 {
  %b = func.call @h12(%a) : (f32) -> f32
  %c = func.call @h12(%b) : (f32) -> f32
  func.return %c : f32
}
func.func private @h12(%a: f32) -> f32 {
  %b = arith.negf %a : f32
  func.return %b : f32
}
annudf.metric @long order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %q = func.call @h0(%x) : (f32) -> f32
    %r = arith.addf %acc, %q : f32
    annudf.yield %r : f32
  }
}

annudf.metric @sum_of_integers order(min) coarse(l2) elements(i8) accumulator(i32) {
  %u = annudf.capture "u" : !annudf.capture<ui32>
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  // expected-remark @below {{[N4] field 0: symmetric; a function of x - y}}
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign: it is an integer, which may be read as signed or unsigned}}
    %v = annudf.load %u[] : !annudf.capture<ui32>
    // expected-remark @below {{[N3] field 0 is not proved to be a polynomial of x and y: the field is no sum of floats}}
    // expected-remark @below {{[N3] field 0 is not proved to be monotone: sums of integers wrap around}}
    %r = arith.addi %acc, %v : i32
    annudf.yield %r : i32
  }
}

// (a b) c has no sign, whatever a's.
annudf.metric @twice order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N4] field 0: adds 2 x^2 - 2 x y (roundings: 3 of f32)}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.constant 2.0 : f32
    // expected-remark @below {{[N3] field 0 is not proved to have terms of one sign, to be monotone: 'arith.subf' may give either sign}}
    %d = arith.subf %x, %y : f32
    %cd = arith.mulf %c, %d : f32
    // expected-remark @below {{[N3] field 0 is not proved to be symmetric: 'arith.mulf' is not known to stay the same, or to change its sign only, when x and y are exchanged}}
    // expected-remark @below {{[N3] field 0 is not proved to be a function of x - y: 'arith.mulf' uses x or y outside of x - y}}
    %t = arith.mulf %cd, %x : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}
