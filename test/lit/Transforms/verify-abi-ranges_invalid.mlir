// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// The neighbours of what verify-abi-ranges.mlir has: each may leave its array, divide by 0 or
// shift too far.

// w[dims - dim], which is dims for the first dimension.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %i = arith.subi %dims, %dim : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// w[dim - 1]
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %i = arith.subi %dim, %one : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// w[min(dim + 1, dims)]
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %n = arith.addi %dim, %one : index
    %i = arith.minsi %n, %dims : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// w[dims - 2 - dim]
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %a = arith.subi %dims, %two : index
    %i = arith.subi %a, %dim : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// w[2 * dim]
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %i = arith.addi %dim, %dim : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims + 1048574, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// w[(dim - 1) % dims] keeps the sign of dim - 1.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %a = arith.subi %dim, %one : index
    %i = arith.remsi %a, %dims : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// An i8 coordinate may be negative.
annudf.metric @m order(min) coarse(l2) elements(i8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -128, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A coordinate is not known to be smaller than dims.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as 255, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// An i16 does not hold every dims: what is cut off may be anything.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %a = arith.index_cast %dim : index to i16
    %i = arith.index_cast %a : i16 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -32768, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// The condition is about another number.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %n = arith.addi %dim, %one : index
    %c = arith.cmpi sle, %n, %dims : index
    scf.if %c {
      // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
      %v = annudf.load %w[%n] : !annudf.capture<dim x f32>
    }
    annudf.yield %acc : f32
  }
}

// -----

// What the condition says does not hold in the other branch, nor after it.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %i = arith.addi %dim, %one : index
    %c = arith.cmpi slt, %i, %dims : index
    scf.if %c {
    } else {
      // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
      %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    }
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %u = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// One of two conditions is not both.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %i = arith.addi %dim, %one : index
    %c = arith.cmpi slt, %i, %dims : index
    %z = arith.constant 0 : i32
    %d = arith.cmpi eq, %x, %z : i32
    %o = arith.ori %c, %d : i1
    scf.if %o {
      // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
      %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    }
    annudf.yield %acc : f32
  }
}

// -----

// A loop carries the index beyond the end.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %n = arith.constant 3 : index
    %r = scf.for %k = %zero to %n step %one iter_args(%i = %dim) -> (index) {
      // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -9223372036854775808, but the extent begins at 0; bound it below, as max(i, 0) does}}
      %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
      %a = arith.addi %i, %one : index
      scf.yield %a : index
    }
    annudf.yield %acc : f32
  }
}

// -----

// Wraparound: x + 2^63 - 1 is negative for a positive x.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %big = arith.constant 9223372036854775807 : index
    %xi = arith.index_cast %x : i32 to index
    %a = arith.addi %xi, %big : index
    %i = arith.minsi %a, %dim : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -9223372036854775808, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// dim * 4096 wraps around in i32.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    %a = arith.index_cast %dim : index to i32
    %f = arith.constant 4096 : i32
    %b = arith.muli %a, %f : i32
    %s = arith.constant 13 : i32
    %d = arith.shrsi %b, %s : i32
    %i = arith.index_cast %d : i32 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -262144, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A divisor that is not 0 in one branch only: divsi.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 0 : i32
    %c = arith.cmpi ne, %y, %z : i32
    scf.if %c {
    } else {
      // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
      %v = arith.divsi %x, %y : i32
    }
    annudf.yield %acc : f32
  }
}

// -----

// A divisor that is not 0 in one branch only: divui.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 0 : i32
    %c = arith.cmpi ne, %y, %z : i32
    scf.if %c {
    } else {
      // expected-error @below {{'arith.divui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
      %v = arith.divui %x, %y : i32
    }
    annudf.yield %acc : f32
  }
}

// -----

// A divisor that is not 0 in one branch only: remsi.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 0 : i32
    %c = arith.cmpi ne, %y, %z : i32
    scf.if %c {
    } else {
      // expected-error @below {{'arith.remsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
      %v = arith.remsi %x, %y : i32
    }
    annudf.yield %acc : f32
  }
}

// -----

// A divisor that is not 0 in one branch only: remui.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 0 : i32
    %c = arith.cmpi ne, %y, %z : i32
    scf.if %c {
    } else {
      // expected-error @below {{'arith.remui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
      %v = arith.remui %x, %y : i32
    }
    annudf.yield %acc : f32
  }
}

// -----

// max(y, 0) may be 0.
annudf.metric @m order(min) coarse(l2) elements(i8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 0 : i32
    %d = arith.maxsi %y, %z : i32
    // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 127; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.divsi %x, %d : i32
    annudf.yield %acc : f32
  }
}

// -----

// y - 128 may be 0; y - 256 may not, but it may be -1, and the dividend anything.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 128 : i32
    %d = arith.subi %y, %z : i32
    // expected-error @below {{'arith.remui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 4294967295; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.remui %x, %d : i32
    %o = arith.constant 256 : i32
    %e = arith.subi %y, %o : i32
    %i = arith.fptosi %acc : f32 to i32
    // expected-error @below {{'arith.divsi' op [B5] may divide the smallest integer by -1, which overflows: the divisor is from -256 to -1; divide by what cannot be -1, or subtract from 0 instead}}
    %u = arith.divsi %i, %e : i32
    annudf.yield %acc : f32
  }
}

// -----

// A mask that leaves the width: shli by y & 32.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 32 : i32
    %d = arith.andi %y, %z : i32
    // expected-error @below {{'arith.shli' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 32; shift by 0 to 31, such as y & 31}}
    %v = arith.shli %x, %d : i32
    annudf.yield %acc : f32
  }
}

// -----

// A mask that leaves the width: shrsi by y & 32.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 32 : i32
    %d = arith.andi %y, %z : i32
    // expected-error @below {{'arith.shrsi' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 32; shift by 0 to 31, such as y & 31}}
    %v = arith.shrsi %x, %d : i32
    annudf.yield %acc : f32
  }
}

// -----

// A mask that leaves the width: shrui by y & 32.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 32 : i32
    %d = arith.andi %y, %z : i32
    // expected-error @below {{'arith.shrui' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 32; shift by 0 to 31, such as y & 31}}
    %v = arith.shrui %x, %d : i32
    annudf.yield %acc : f32
  }
}

// -----

// A remainder may be negative.
annudf.metric @m order(min) coarse(l2) elements(i8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 32 : i32
    %d = arith.remsi %y, %z : i32
    // expected-error @below {{'arith.shli' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from -31 to 31; shift by 0 to 31, such as y & 31}}
    %v = arith.shli %x, %d : i32
    annudf.yield %acc : f32
  }
}

// -----

// An amount below 8 is too large for i8 only from 8 on.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %z = arith.constant 8 : i32
    %d = arith.minsi %y, %z : i32
    %n = arith.trunci %d : i32 to i8
    %b = arith.trunci %x : i32 to i8
    // expected-error @below {{'arith.shrui' op [B6] may shift 'i8' by 8 or more bits, which has no value: the amount is from 0 to 8; shift by 0 to 7, such as y & 7}}
    %v = arith.shrui %b, %n : i8
    annudf.yield %acc : f32
  }
}

// -----

// A dimension may be larger than every id.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%dim] : !annudf.capture<row x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A dimension may be larger than every query.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %one = arith.constant 1 : index
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%dim] : !annudf.capture<query x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A constant extent ends where it says.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 16 may be as large as 255, but the extent ends at 15; bound it above, as min(i, 15) does}}
    %v = annudf.load %w[%i] : !annudf.capture<16 x f32>
    annudf.yield %acc : f32
  }
}

// -----

// The sum of a rest and its divisor where the rest may be 0, which is dims.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %before = arith.subi %dim, %one : index
    %rest = arith.remsi %before, %dims : index
    %moved = arith.addi %rest, %dims : index
    %low = arith.cmpi sle, %rest, %zero : index
    %i = arith.select %low, %moved, %rest : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// The same, chosen on the wrong side: the condition tells of the other.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %before = arith.subi %dim, %one : index
    %rest = arith.remsi %before, %dims : index
    %moved = arith.addi %rest, %dims : index
    %low = arith.cmpi slt, %rest, %zero : index
    %i = arith.select %low, %rest, %moved : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A condition on something else tells nothing of the rest.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %before = arith.subi %dim, %one : index
    %rest = arith.remsi %before, %dims : index
    %moved = arith.addi %rest, %dims : index
    %low = arith.cmpi slt, %before, %zero : index
    %other = arith.index_cast %x : i32 to index
    %c = arith.cmpi slt, %other, %one : index
    %i = arith.select %c, %moved, %rest : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// The rest of another division moved by dims.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %dims = annudf.index dims
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %before = arith.subi %dim, %one : index
    %other = arith.addi %dims, %one : index
    %far = arith.subi %before, %one : index
    %rest = arith.remsi %far, %other : index
    %moved = arith.addi %rest, %dims : index
    %low = arith.cmpi slt, %rest, %zero : index
    %i = arith.select %low, %moved, %zero : index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// An argument of a helper may be anything, and so may its result.
func.func private @h(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 7 : i32
  %d = arith.andi %b, %c : i32
  %e = arith.shli %a, %d : i32
  // expected-error @below {{'arith.shli' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from -2147483648 to 2147483647; shift by 0 to 31, such as y & 31}}
  %f = arith.shli %e, %b : i32
  return %f : i32
}

annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %a = func.call @h(%x, %y) : (i32, i32) -> i32
    %i = arith.index_cast %a : i32 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -2147483648, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// The row after the last is none.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %row = annudf.index row
    %one = arith.constant 1 : index
    %next = arith.addi %row, %one : index
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%next] : !annudf.capture<row x f32>
    annudf.yield %acc : f32
  }
}

// -----

// An id may need 64 bits: in 32 it is another row.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %row = annudf.index row
    %n = arith.index_cast %row : index to i32
    %i = arith.index_cast %n : i32 to index
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%i] : !annudf.capture<row x f32>
    annudf.yield %acc : f32
  }
}

// -----

// There may be more queries than rows.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %query = annudf.index query
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%query] : !annudf.capture<row x f32>
    annudf.yield %acc : f32
  }
}

// -----

// Nothing but the row itself: what else is below its number is not looked for.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %zero = arith.constant 0 : index
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%zero] : !annudf.capture<row x f32>
    annudf.yield %acc : f32
  }
}

// -----

// There may be more rows than queries.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%row] : !annudf.capture<query x f32>
    annudf.yield %acc : f32
  }
}

// -----

// In 16 bits it is another query.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x f32>
  annudf.init {
    %query = annudf.index query
    %n = arith.index_cast %query : index to i16
    %i = arith.index_cast %n : i16 to index
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%i] : !annudf.capture<query x f32>
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// -----

// There may be more lists than queries.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x f32>
  annudf.init {
    %list = annudf.index list
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%list] : !annudf.capture<query x f32>
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// -----

// A search may have one query.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %query = annudf.index query
    %one = arith.constant 1 : index
    %i = arith.maxsi %query, %one : index
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %v = annudf.load %w[%i] : !annudf.capture<query x f32>
    annudf.yield %acc : f32
  }
}

// -----

// Each of several extents.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %query = annudf.index query
    %dims = annudf.index dims
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%query, %dims] : !annudf.capture<query x dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

// Each of several extents, the last too.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x 4 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %dim = annudf.index dim
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 4 may be as large as 255, but the extent ends at 3; bound it above, as min(i, 3) does}}
    %v = annudf.load %w[%dim, %i] : !annudf.capture<dim x 4 x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A constant extent begins at 0.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<16 x 16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.constant -1 : index
    // expected-error @below {{'annudf.load' op [L2] index of extent 16 may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i, %i] : !annudf.capture<16 x 16 x f32>
    annudf.yield %acc : f32
  }
}

// -----

// A list is an index like others.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<16 x f32>
  annudf.init {
    %list = annudf.index list
    // expected-error @below {{'annudf.load' op [L3] index of extent 16 may be as large as 2147483647, but the extent ends at 15; bound it above, as min(i, 15) does}}
    %v = annudf.load %w[%list] : !annudf.capture<16 x f32>
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// -----

// An id may be the largest integer, and one more wraps around.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %n = arith.constant 16 : index
    %one = arith.constant 1 : index
    %next = arith.addi %row, %one : index
    %i = arith.remsi %next, %n : index
    // expected-error @below {{'annudf.load' op [L2] index of extent 16 may be -15, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%i] : !annudf.capture<16 x f32>
    annudf.yield %acc : f32
  }
}

// -----

// Row 0 is one.
annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %row = annudf.index row
    %n = arith.index_cast %row : index to i64
    %c = arith.constant 1 : i64
    // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 9223372036854775807; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.divsi %c, %n : i64
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui8>
  %table = annudf.capture "table" : !annudf.capture<255 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui8>
    %i = arith.index_castui %c : i8 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 255 may be as large as 255, but the extent ends at 254; bound it above, as min(i, 254) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<255 x f32>
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui8>
  %table = annudf.capture "table" : !annudf.capture<256 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui8>
    %i = arith.index_cast %c : i8 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent 256 may be -128, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<256 x f32>
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x i1>
  %table = annudf.capture "table" : !annudf.capture<1 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x i1>
    %i = arith.index_castui %c : i1 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 1 may be as large as 1, but the extent ends at 0; bound it above, as min(i, 0) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<1 x f32>
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x i1>
  %table = annudf.capture "table" : !annudf.capture<2 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x i1>
    %i = arith.index_cast %c : i1 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent 2 may be -1, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<2 x f32>
    annudf.yield %0 : f32
  }
}

// -----

// Compared in a wider type, with one too many.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %code = annudf.capture "code" : !annudf.capture<row x ui32>
  %table = annudf.capture "table" : !annudf.capture<4 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %row = annudf.index row
    %c = annudf.load %code[%row] : !annudf.capture<row x ui32>
    %most = arith.constant 4 : i64
    %w = arith.extui %c : i32 to i64
    %large = arith.cmpi slt, %most, %w : i64
    %three = arith.constant 3 : i32
    %least = arith.select %large, %three, %c : i32
    %i = arith.index_castui %least : i32 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 4 may be as large as 4, but the extent ends at 3; bound it above, as min(i, 3) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<4 x f32>
    annudf.yield %0 : f32
  }
}

// -----

// The value of the wrong branch, 4 or more.
annudf.metric @m order(min) coarse(l2) elements(f32) {
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
    %least = arith.select %large, %c, %three : i32
    %i = arith.index_castui %least : i32 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 4 may be as large as 4294967295, but the extent ends at 3; bound it above, as min(i, 3) does}}
    %0 = annudf.load %table[%i] : !annudf.capture<4 x f32>
    annudf.yield %0 : f32
  }
}
