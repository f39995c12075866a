// RUN: annudf-opt %s --annudf-verify-abi -o /dev/null
// RUN: annudf-opt %s --annudf-to-host=metric=loads -o /dev/null
// RUN: annudf-opt %s --annudf-to-nvvm=metric=loads -o /dev/null
// RUN: annudf-opt %s --annudf-to-host=metric=numbers -o /dev/null
// RUN: annudf-opt %s --annudf-to-host=metric=three -o /dev/null
// RUN: annudf-opt %s --annudf-to-host=metric=tables -o /dev/null
// RUN: annudf-opt %s --annudf-to-nvvm=metric=tables -o /dev/null
// RUN: annudf-opt %s --annudf-to-nvvm=metric=codes -o /dev/null

// What the ranges of integers prove, each at its limit; verify-abi-ranges_invalid.mlir has
// the neighbours that they refuse.

annudf.metric @loads order(min) coarse(l2) elements(i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    // Vectors have at least one dimension.
    %zero = arith.constant 0 : index
    %a = annudf.load %w[%zero] : !annudf.capture<dim x f32>
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %last = arith.subi %dims, %one : index
    %b = annudf.load %w[%last] : !annudf.capture<dim x f32>
    %r = arith.addf %a, %b : f32
    annudf.yield %r : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %last = arith.subi %dims, %one : index
    %next = arith.addi %dim, %one : index
    %before = arith.subi %dim, %one : index

    // w[dims - 1 - dim]
    %mirror = arith.subi %last, %dim : index
    %0 = annudf.load %w[%mirror] : !annudf.capture<dim x f32>
    // w[min(dim + 1, dims - 1)], as an op and as the select that a frontend emits
    %clamped = arith.minsi %next, %last : index
    %1 = annudf.load %w[%clamped] : !annudf.capture<dim x f32>
    %less = arith.cmpi slt, %last, %next : index
    %chosen = arith.select %less, %last, %next : index
    %2 = annudf.load %w[%chosen] : !annudf.capture<dim x f32>
    // w[max(dim - 1, 0)]
    %floor = arith.maxsi %before, %zero : index
    %3 = annudf.load %w[%floor] : !annudf.capture<dim x f32>
    // w[(dim + 1) % dims], signed and unsigned
    %ring = arith.remsi %next, %dims : index
    %4 = annudf.load %w[%ring] : !annudf.capture<dim x f32>
    %ringu = arith.remui %next, %dims : index
    %5 = annudf.load %w[%ringu] : !annudf.capture<dim x f32>
    %xi = arith.index_cast %x : i32 to index
    // w[(dim - 1) % dims] as Python has it, whose rest is never negative
    %rest = arith.remsi %before, %dims : index
    %moved = arith.addi %rest, %dims : index
    %negative = arith.cmpi slt, %rest, %zero : index
    %around = arith.select %negative, %moved, %rest : index
    %ring1 = annudf.load %w[%around] : !annudf.capture<dim x f32>
    // and w[x % dims] of any signed x
    %signed = arith.remsi %xi, %dims : index
    %signed_moved = arith.addi %signed, %dims : index
    %signed_negative = arith.cmpi slt, %signed, %zero : index
    %signed_around = arith.select %signed_negative, %signed_moved, %signed : index
    %ring3 = annudf.load %w[%signed_around] : !annudf.capture<dim x f32>
    // The same as a subtraction, w[dim - (dim > 0 ? 1 : 0)]
    %positive = arith.cmpi sgt, %dim, %zero : index
    %left = arith.select %positive, %before, %dim : index
    %ring2 = annudf.load %w[%left] : !annudf.capture<dim x f32>
    // w[x % dims] of an unsigned x of any value
    %hash = arith.remui %xi, %dims : index
    %6 = annudf.load %w[%hash] : !annudf.capture<dim x f32>
    // Parts of dim: w[dim / 2], w[dim >> 1], w[dim & x]
    %half = arith.divui %dim, %two : index
    %7 = annudf.load %w[%half] : !annudf.capture<dim x f32>
    %shifted = arith.shrui %dim, %one : index
    %8 = annudf.load %w[%shifted] : !annudf.capture<dim x f32>
    %masked = arith.andi %dim, %xi : index
    %9 = annudf.load %w[%masked] : !annudf.capture<dim x f32>
    // Through i32, which holds every dims.
    %dim32 = arith.index_cast %dim : index to i32
    %dims32 = arith.index_cast %dims : index to i32
    %one32 = arith.constant 1 : i32
    %last32 = arith.subi %dims32, %one32 : i32
    %mirror32 = arith.subi %last32, %dim32 : i32
    %back = arith.index_cast %mirror32 : i32 to index
    %10 = annudf.load %w[%back] : !annudf.capture<dim x f32>
    // A condition proves it, and a cast before the condition is proved with it.
    %next32 = arith.addi %dim32, %one32 : i32
    %after = arith.index_cast %next32 : i32 to index
    %isInside = arith.cmpi slt, %next32, %dims32 : i32
    %11 = scf.if %isInside -> f32 {
      %v = annudf.load %w[%after] : !annudf.capture<dim x f32>
      scf.yield %v : f32
    } else {
      scf.yield %acc : f32
    }
    // Two conditions, and the part without them.
    %zero32 = arith.constant 0 : i32
    %low = arith.cmpi sge, %x, %zero32 : i32
    %high = arith.cmpi slt, %x, %dims32 : i32
    %both = arith.andi %low, %high : i1
    %12 = scf.if %both -> f32 {
      %v = annudf.load %w[%xi] : !annudf.capture<dim x f32>
      scf.yield %v : f32
    } else {
      scf.yield %acc : f32
    }
    %true = arith.constant true
    %outside = arith.xori %both, %true : i1
    %13 = scf.if %outside -> f32 {
      scf.yield %acc : f32
    } else {
      %v = annudf.load %w[%xi] : !annudf.capture<dim x f32>
      scf.yield %v : f32
    }
    %belowU = arith.cmpi ult, %xi, %dims : index
    %14 = scf.if %belowU -> f32 {
      %v = annudf.load %w[%xi] : !annudf.capture<dim x f32>
      scf.yield %v : f32
    } else {
      scf.yield %acc : f32
    }
    // The window of a loop, clamped on both sides.
    %three = arith.constant 3 : index
    %15 = scf.for %k = %zero to %three step %one iter_args(%sum = %acc) -> (f32) {
      %a = arith.addi %dim, %k : index
      %b = arith.subi %a, %one : index
      %c = arith.maxsi %b, %zero : index
      %d = arith.minsi %c, %last : index
      %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
      %s = arith.addf %sum, %v : f32
      scf.yield %s : f32
    }
    // What a loop carries, clamped in each round.
    %16:2 = scf.for %k = %zero to %three step %one iter_args(%i = %dim, %sum = %acc) -> (index, f32) {
      %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
      %s = arith.addf %sum, %v : f32
      %a = arith.addi %i, %one : index
      %n = arith.remui %a, %dims : index
      scf.yield %n, %s : index, f32
    }
    %r0 = arith.addf %0, %1 : f32
    %r1 = arith.addf %r0, %2 : f32
    %r2 = arith.addf %r1, %3 : f32
    %r3 = arith.addf %r2, %4 : f32
    %r4 = arith.addf %r3, %5 : f32
    %r5 = arith.addf %r4, %6 : f32
    %r6 = arith.addf %r5, %7 : f32
    %r7 = arith.addf %r6, %8 : f32
    %r8 = arith.addf %r7, %9 : f32
    %r9 = arith.addf %r8, %10 : f32
    %r10 = arith.addf %r9, %11 : f32
    %r11 = arith.addf %r10, %12 : f32
    %r12 = arith.addf %r11, %13 : f32
    %r13 = arith.addf %r12, %14 : f32
    %r14 = arith.addf %r13, %15 : f32
    %r15 = arith.addf %r14, %16#1 : f32
    annudf.yield %r15 : f32
  }
}

annudf.metric @numbers order(min) coarse(l2) elements(u8) {
  %n = annudf.capture "n" : !annudf.capture<i32>
  %k = annudf.capture "k" = 31 : i32 : !annudf.capture<i32>
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    %7 = arith.constant 7 : i32
    %31 = arith.constant 31 : i32
    // x >> (y & 31), x << (n % 32) of an unsigned n, and a baked amount
    %m = arith.andi %y, %31 : i32
    %a = arith.shrui %acc, %m : i32
    %32 = arith.constant 32 : i32
    %n0 = annudf.load %n[] : !annudf.capture<i32>
    %amount = arith.remui %n0, %32 : i32
    %b = arith.shli %a, %amount : i32
    %k0 = annudf.load %k[] : !annudf.capture<i32>
    %c = arith.shrsi %b, %k0 : i32
    // acc / max(y, 1), acc % (y | 1), acc / (y + 1): no divisor is 0 or -1
    %d = arith.maxsi %y, %1 : i32
    %e = arith.divsi %acc, %d : i32
    %odd = arith.ori %y, %1 : i32
    %f = arith.remsi %acc, %odd : i32
    %g = arith.addi %y, %1 : i32
    %h = arith.divui %acc, %g : i32
    // x / -1: x is not the smallest integer
    %minus = arith.constant -1 : i32
    %i = arith.divsi %x, %minus : i32
    // A condition keeps 0 away.
    %some = arith.cmpi ne, %y, %0 : i32
    %j = scf.if %some -> i32 {
      %q = arith.remui %x, %y : i32
      scf.yield %q : i32
    } else {
      scf.yield %0 : i32
    }
    // The counter of a loop as an amount and as a divisor.
    %8 = arith.constant 8 : i32
    %l = scf.for %t = %1 to %8 step %1 iter_args(%s = %0) -> (i32) : i32 {
      %u = arith.shrui %x, %t : i32
      %v = arith.divui %u, %t : i32
      %w = arith.addi %s, %v : i32
      scf.yield %w : i32
    }
    %s0 = arith.addi %c, %e : i32
    %s1 = arith.addi %s0, %f : i32
    %s2 = arith.addi %s1, %h : i32
    %s3 = arith.addi %s2, %i : i32
    %s4 = arith.addi %s3, %j : i32
    %s5 = arith.addi %s4, %l : i32
    annudf.yield %s5 : i32
  }
}

// With a fixed number of dimensions, constants and coordinates can be indices.
annudf.metric @three order(min) coarse(l2) elements(u8) dims(3) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %two = arith.constant 2 : index
    %0 = annudf.load %w[%two] : !annudf.capture<dim x f32>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %c = arith.constant 2 : i32
    %m = arith.minsi %x, %c : i32
    %i = arith.index_cast %m : i32 to index
    %0 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %0 : f32
  }
}

// Tables that are looked up, and what the indices of the scan prove.
annudf.metric @tables order(min) coarse(l2) elements(u8) {
  %lut = annudf.capture "lut" : !annudf.capture<16 x 16 x f32>
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  %v = annudf.capture "v" : !annudf.capture<dim x f32>
  %age = annudf.capture "age" : !annudf.capture<row x 4 x f32>
  annudf.init {
    %query = annudf.index query
    %zero = arith.constant 0 : index
    %0 = annudf.load %w[%query, %zero] : !annudf.capture<query x dim x f32>
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %fifteen = arith.constant 15 : i32
    %a = arith.minsi %x, %fifteen : i32
    %b = arith.andi %y, %fifteen : i32
    %i = arith.index_cast %a : i32 to index
    %j = arith.index_castui %b : i32 to index
    %0 = annudf.load %lut[%i, %j] : !annudf.capture<16 x 16 x f32>
    // v[(dim + 1) % dims]
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %next = arith.addi %dim, %one : index
    %around = arith.remsi %next, %dims : index
    %1 = annudf.load %v[%around] : !annudf.capture<dim x f32>
    // age[row][list % 4], lut[row % 16][query & 15]
    %row = annudf.index row
    %list = annudf.index list
    %query = annudf.index query
    %three = arith.constant 3 : index
    %part = arith.andi %list, %three : index
    %2 = annudf.load %age[%row, %part] : !annudf.capture<row x 4 x f32>
    %sixteen = arith.constant 16 : index
    %some = arith.remsi %row, %sixteen : index
    %mask = arith.constant 15 : index
    %any = arith.andi %query, %mask : index
    %3 = annudf.load %lut[%some, %any] : !annudf.capture<16 x 16 x f32>
    %4 = arith.addf %0, %1 : f32
    %5 = arith.addf %2, %3 : f32
    %6 = arith.addf %4, %5 : f32
    %7 = arith.addf %6, %acc : f32
    annudf.yield %7 : f32
  }
}

// What a narrow element may be: codes index tables of all codes.
annudf.metric @codes order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui8>
  %sign = annudf.capture "sign" : !annudf.capture<row x i8>
  %flag = annudf.capture "flag" : !annudf.capture<row x i1>
  %table = annudf.capture "table" : !annudf.capture<256 x f32>
  %two = annudf.capture "two" : !annudf.capture<2 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui8>
    %i = arith.index_castui %c : i8 to index
    %0 = annudf.load %table[%i] : !annudf.capture<256 x f32>
    %w = arith.extui %c : i8 to i32
    %j = arith.index_cast %w : i32 to index
    %1 = annudf.load %table[%j] : !annudf.capture<256 x f32>
    %s = annudf.load %sign[%row] : !annudf.capture<row x i8>
    %sw = arith.extsi %s : i8 to i32
    %middle = arith.constant 128 : i32
    %moved = arith.addi %sw, %middle : i32
    %k = arith.index_cast %moved : i32 to index
    %2 = annudf.load %table[%k] : !annudf.capture<256 x f32>
    %f = annudf.load %flag[%row] : !annudf.capture<row x i1>
    %l = arith.index_castui %f : i1 to index
    %3 = annudf.load %two[%l] : !annudf.capture<2 x f32>
    %4 = arith.addf %0, %1 : f32
    %5 = arith.addf %2, %3 : f32
    %6 = arith.addf %4, %5 : f32
    annudf.yield %6 : f32
  }
}

// An unsigned value that is compared in a wider type, as min(u, 3) of a uint32 is in Python.
annudf.metric @wider order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui32>
  %table = annudf.capture "table" : !annudf.capture<4 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui32>
    %most = arith.constant 3 : i64
    %w = arith.extui %c : i32 to i64
    %large = arith.cmpi slt, %most, %w : i64
    %three = arith.constant 3 : i32
    %least = arith.select %large, %three, %c : i32
    %i = arith.index_castui %least : i32 to index
    %0 = annudf.load %table[%i] : !annudf.capture<4 x f32>
    %1 = arith.addf %acc, %0 : f32
    annudf.yield %1 : f32
  }
}

// A constant below a condition on dims, and what a loop took from its counter.
annudf.metric @dims order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dims
    %dims = arith.index_cast %d : index to i64
    %three = arith.constant 3 : i64
    %i = arith.constant 3 : index
    %enough = arith.cmpi slt, %three, %dims : i64
    %r = scf.if %enough -> f32 {
      %0 = annudf.load %w[%i] : !annudf.capture<dim x f32>
      scf.yield %0 : f32
    } else {
      scf.yield %acc : f32
    }
    annudf.yield %r : f32
  }
}
annudf.metric @taken order(min) coarse(l2) elements(f32) {
  %table = annudf.capture "table" : !annudf.capture<9 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %two = arith.constant 2 : i32
    %end = arith.constant 9 : i32
    %one = arith.constant 1 : i32
    %k = scf.for %i = %two to %end step %one iter_args(%last = %two) -> (i32) : i32 {
      %c = arith.cmpf olt, %x, %y : f32
      %next = arith.select %c, %i, %last : i32
      scf.yield %next : i32
    }
    %j = arith.index_cast %k : i32 to index
    %0 = annudf.load %table[%j] : !annudf.capture<9 x f32>
    annudf.yield %0 : f32
  }
}
