// RUN: annudf-opt %s --annudf-verify-abi --annudf-pack-lanes | FileCheck %s
// What it writes keeps the rules, in text and in bytecode:
// RUN: annudf-opt %s --annudf-pack-lanes | annudf-opt --annudf-verify-abi -o /dev/null
// RUN: annudf-opt %s --annudf-pack-lanes --emit-bytecode | annudf-opt --annudf-verify-abi | FileCheck %s

func.func private @apart(%a: f32, %b: f32) -> f32 {
  %d = arith.subf %b, %a : f32
  func.return %d : f32
}

// d * d, and what is added stands first.
// CHECK-LABEL: @square
// CHECK-SAME: packed {dims = {i8 = 258 : i32, u8 = 258 : i32}, term = "squared_difference"} {
annudf.metric @square order(min) coarse(l2) elements(f32, i8, u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = func.call @apart(%x, %y) : (f32, f32) -> f32
    %t = arith.mulf %d, %d : f32
    %r = arith.addf %t, %acc : f32
    annudf.yield %r : f32
  }
}

// An fma, an accumulator that begins elsewhere, and packed bits.
// CHECK-LABEL: @fused
// CHECK-SAME: packed {dims = {bits = 1048576 : i32, i8 = 257 : i32}, term = "squared_difference"} {
annudf.metric @fused order(min) coarse(l2) elements(i8, bits) {
  annudf.init {
    %0 = arith.constant -65000.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: @abs
// CHECK-SAME: packed {dims = {i8 = 65793 : i32, u8 = 65793 : i32}, term = "absolute_difference"} {
annudf.metric @abs order(min) coarse(l2) elements(i8, u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %t = math.absf %d : f32
    %r = arith.addf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// max(d, -d), of integers that wrap around whatever the number of dimensions.
// CHECK-LABEL: @abs_max
// CHECK-SAME: packed {dims = {i8 = 1048576 : i32, u8 = 1048576 : i32}, term = "absolute_difference"} {
annudf.metric @abs_max order(min) coarse(l2) elements(i8, u8) accumulator(u32) {
  annudf.init {
    %dims = annudf.index dims
    %0 = arith.index_cast %dims : index to i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %zero = arith.constant 0 : i32
    %d = arith.subi %x, %y : i32
    %n = arith.subi %zero, %d : i32
    %t = arith.maxsi %d, %n : i32
    %r = arith.addi %acc, %t : i32
    annudf.yield %r : i32
  }
}

// Branches whose sides add to the accumulator; f32 coordinates and an i32 accumulator.
// CHECK-LABEL: @abs_branch
// CHECK-SAME: packed {dims = {u8 = 1048576 : i32}, term = "absolute_difference"} {
annudf.metric @abs_branch order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %i = arith.fptosi %d : f32 to i32
    %c = arith.cmpf oge, %x, %y : f32
    %r = scf.if %c -> (i32) {
      %a = arith.addi %acc, %i : i32
      scf.yield %a : i32
    } else {
      %s = arith.subi %acc, %i : i32
      scf.yield %s : i32
    }
    annudf.yield %r : i32
  }
}

// A larger product is better, or a smaller one with the sign turned; 128 * 128 * 1024 is 2^24.
// CHECK-LABEL: @product
// CHECK-SAME: packed {dims = {i8 = 1024 : i32, u8 = 258 : i32}, term = "product"} {
annudf.metric @product order(max) coarse(inner_product) elements(f32, i8, u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = math.fma %y, %x, %acc : f32
    annudf.yield %r : f32
  }
}

// CHECK-LABEL: @minus_product
// CHECK-SAME: packed {dims = {i8 = 1024 : i32}, negated, term = "product"} {
annudf.metric @minus_product order(min) coarse(inner_product) elements(i8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.mulf %x, %y : f32
    %r = arith.subf %acc, %t : f32
    annudf.yield %r : f32
  }
}

// As Python's integers come: 64 bits wide, and narrow again.
// CHECK-LABEL: @wide
// CHECK-SAME: packed {dims = {i8 = 1048576 : i32, u8 = 1048576 : i32}, term = "squared_difference"} {
annudf.metric @wide order(min) coarse(l2) elements(i8, u8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %a = arith.extsi %acc : i32 to i64
    %x64 = arith.extsi %x : i32 to i64
    %y64 = arith.extsi %y : i32 to i64
    %d = arith.subi %x64, %y64 : i64
    %t = arith.muli %d, %d : i64
    %s = arith.addi %a, %t : i64
    %r = arith.trunci %s : i64 to i32
    annudf.yield %r : i32
  }
}

// CHECK-LABEL: @differ
// CHECK-SAME: packed {dims = {bits = 1048576 : i32, i8 = 1048576 : i32, u8 = 1048576 : i32}, term = "different"} {
annudf.metric @differ order(min) coarse(l2) elements(i8, u8, bits) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %one = arith.constant 1.0 : f32
    %c = arith.cmpf une, %x, %y : f32
    %a = arith.addf %acc, %one : f32
    %r = arith.select %c, %a, %acc : f32
    annudf.yield %r : f32
  }
}

// Of i8 the sign is extended, so that more than 8 bits differ.
// CHECK-LABEL: @bits
// CHECK-SAME: packed {dims = {bits = 1048576 : i32, u8 = 1048576 : i32}, term = "different_bits"} {
annudf.metric @bits order(min) coarse(l2) elements(i8, u8, bits) accumulator(u32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %d = arith.xori %x, %y : i32
    %t = math.ctpop %d : i32
    %r = arith.addi %acc, %t : i32
    annudf.yield %r : i32
  }
}
