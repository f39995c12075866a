// RUN: annudf-opt %s --annudf-pack-lanes=explain --verify-diagnostics | FileCheck %s

// CHECK-NOT: packed

annudf.metric @floats order(min) coarse(l2) elements(f32, bf16) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it takes no integers of 8 bits or fewer}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @starts_between order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.5 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it does not begin with a whole constant}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// A sum of zeros would stay -0, and 1 / acc shows it.
annudf.metric @starts_below_zero order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant -0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it does not begin with a whole constant}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @depends order(min) coarse(l2) elements(u8) {
  annudf.init {
    %n = annudf.index dims
    %i = arith.index_cast %n : index to i32
    %0 = arith.sitofp %i : i32 to f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it does not begin with a whole constant}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @weighted order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it holds 'annudf.index', which depends on more than two coordinates}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %d = arith.subf %x, %y : f32
    %t = arith.mulf %d, %v : f32
    %r = math.fma %t, %d, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @halved order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.mulf' gives -0.5 of two coordinates, no whole number that its type holds exactly}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %half = arith.constant 0.5 : f32
    %d = arith.subf %x, %y : f32
    %t = arith.mulf %d, %half : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

annudf.metric @doubled order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: of u8 it adds 2 for 0 and 1, which is none of absolute_difference, squared_difference, product, different, different_bits}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %t = math.absf %d : f32
    %s = arith.addf %acc, %t : f32
    %r = arith.addf %s, %t : f32
    annudf.yield %r : f32
  }
}

// One pair of 65,536.
annudf.metric @last_pair_differs order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  // expected-remark @below {{[N2] is not packed: of u8 it adds 1 for 255 and 255, which is none of absolute_difference, squared_difference, product, different, different_bits}}
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %c510 = arith.constant 510 : i32
    %one = arith.constant 1 : i32
    %s = arith.addi %x, %y : i32
    %c = arith.cmpi eq, %s, %c510 : i32
    %d = arith.subi %x, %y : i32
    %t = math.absi %d : i32
    %e = arith.select %c, %one, %t : i32
    %r = arith.addi %acc, %e : i32
    annudf.yield %r : i32
  }
}

annudf.metric @largest order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.maximumf' does more with the accumulator than add to it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %t = math.absf %d : f32
    %r = arith.maximumf %acc, %t : f32
    annudf.yield %r : f32
  }
}

annudf.metric @subtracted_from order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.subf' does more with the accumulator than add to it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.mulf %x, %y : f32
    %r = arith.subf %t, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @twice order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.addf' does more with the accumulator than add to it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.addf %acc, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @forgets order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.select' does more with the accumulator than add to it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c = arith.cmpf olt, %x, %y : f32
    %r = arith.select %c, %acc, %x : f32
    annudf.yield %r : f32
  }
}

annudf.metric @dropped order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it does not yield the accumulator plus a term}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = arith.mulf %x, %y : f32
    annudf.yield %r : f32
  }
}

annudf.metric @narrowed order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  // expected-remark @below {{[N2] is not packed: 'arith.trunci' makes the accumulator narrower}}
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %n = arith.trunci %acc : i32 to i16
    %r = arith.extsi %n : i16 to i32
    annudf.yield %r : i32
  }
}

annudf.metric @root order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it holds 'math.sqrt', which is not computed for every pair}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.mulf %x, %y : f32
    %t = math.sqrt %d : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

annudf.metric @sums_in_64_bits order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  // expected-remark @below {{[N2] is not packed: it accumulates in f64, not in 32 bits}}
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %d = arith.mulf %x, %y : f64
    %r = arith.addf %acc, %d : f64
    annudf.yield %r : f64
  }
}

annudf.metric @starts_at_the_end order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 16777216.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: of u8 one dimension may add 65025 to 16777216, and f32 counts up to 16777216}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

annudf.metric @long order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-remark @below {{[N2] is not packed: it takes more than 64 operations}}
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %z = arith.constant 0.0 : f32
    %t0 = arith.mulf %x, %y : f32
    %t1 = arith.addf %t0, %z : f32
    %t2 = arith.addf %t1, %z : f32
    %t3 = arith.addf %t2, %z : f32
    %t4 = arith.addf %t3, %z : f32
    %t5 = arith.addf %t4, %z : f32
    %t6 = arith.addf %t5, %z : f32
    %t7 = arith.addf %t6, %z : f32
    %t8 = arith.addf %t7, %z : f32
    %t9 = arith.addf %t8, %z : f32
    %t10 = arith.addf %t9, %z : f32
    %t11 = arith.addf %t10, %z : f32
    %t12 = arith.addf %t11, %z : f32
    %t13 = arith.addf %t12, %z : f32
    %t14 = arith.addf %t13, %z : f32
    %t15 = arith.addf %t14, %z : f32
    %t16 = arith.addf %t15, %z : f32
    %t17 = arith.addf %t16, %z : f32
    %t18 = arith.addf %t17, %z : f32
    %t19 = arith.addf %t18, %z : f32
    %t20 = arith.addf %t19, %z : f32
    %t21 = arith.addf %t20, %z : f32
    %t22 = arith.addf %t21, %z : f32
    %t23 = arith.addf %t22, %z : f32
    %t24 = arith.addf %t23, %z : f32
    %t25 = arith.addf %t24, %z : f32
    %t26 = arith.addf %t25, %z : f32
    %t27 = arith.addf %t26, %z : f32
    %t28 = arith.addf %t27, %z : f32
    %t29 = arith.addf %t28, %z : f32
    %t30 = arith.addf %t29, %z : f32
    %t31 = arith.addf %t30, %z : f32
    %t32 = arith.addf %t31, %z : f32
    %t33 = arith.addf %t32, %z : f32
    %t34 = arith.addf %t33, %z : f32
    %t35 = arith.addf %t34, %z : f32
    %t36 = arith.addf %t35, %z : f32
    %t37 = arith.addf %t36, %z : f32
    %t38 = arith.addf %t37, %z : f32
    %t39 = arith.addf %t38, %z : f32
    %t40 = arith.addf %t39, %z : f32
    %t41 = arith.addf %t40, %z : f32
    %t42 = arith.addf %t41, %z : f32
    %t43 = arith.addf %t42, %z : f32
    %t44 = arith.addf %t43, %z : f32
    %t45 = arith.addf %t44, %z : f32
    %t46 = arith.addf %t45, %z : f32
    %t47 = arith.addf %t46, %z : f32
    %t48 = arith.addf %t47, %z : f32
    %t49 = arith.addf %t48, %z : f32
    %t50 = arith.addf %t49, %z : f32
    %t51 = arith.addf %t50, %z : f32
    %t52 = arith.addf %t51, %z : f32
    %t53 = arith.addf %t52, %z : f32
    %t54 = arith.addf %t53, %z : f32
    %t55 = arith.addf %t54, %z : f32
    %t56 = arith.addf %t55, %z : f32
    %t57 = arith.addf %t56, %z : f32
    %t58 = arith.addf %t57, %z : f32
    %t59 = arith.addf %t58, %z : f32
    %t60 = arith.addf %t59, %z : f32
    %t61 = arith.addf %t60, %z : f32
    %t62 = arith.addf %t61, %z : f32
    %t63 = arith.addf %t62, %z : f32
    %t64 = arith.addf %t63, %z : f32
    %r = arith.addf %acc, %t64 : f32
    annudf.yield %r : f32
  }
}

annudf.metric @fields order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  // expected-remark @below {{[N2] is not packed: its accumulator has 2 fields}}
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %c = math.fma %x, %y, %a : f32
    annudf.yield %c, %b : f32, f32
  }
  annudf.finalize (%a: f32, %b: f32) {
    annudf.yield %a : f32
  }
}
