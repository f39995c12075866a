// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=artifact

// Bodies: which ops, on which types, with which operands.

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    // expected-error @below {{'arith.addui_extended' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v, %o = arith.addui_extended %x, %y : i32, i1
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    // expected-error @below {{'arith.ceildivsi' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v = arith.ceildivsi %x, %y : i32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    // expected-error @below {{'arith.floordivsi' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v = arith.floordivsi %x, %y : i32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'math.sincos' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v, %w = math.sincos %x : f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    // expected-error @below {{'math.ipowi' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v = math.ipowi %x, %y : i32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'math.clampf' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v = math.clampf %x to [%y, %acc] : f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.constant true
    // expected-error @below {{'scf.while' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    scf.while (%a = %x) : (f32) -> f32 {
      scf.condition(%t) %a : f32
    } do {
    ^bb0(%a: f32):
      scf.yield %a : f32
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'scf.execute_region' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    scf.execute_region {
      scf.yield
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'scf.index_switch' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    scf.index_switch %i
    default {
      scf.yield
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.index_cast %x : i32 to index
    // expected-error @below {{'scf.forall' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    scf.forall (%j) in (%i) {
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'llvm.fadd' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %v = llvm.fadd %x, %y : f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'llvm.inline_asm' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    llvm.inline_asm has_side_effects "trap;", "" : () -> ()
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'llvm.func' op [T2] cannot stand beside a metric; a module holds metrics, filters, functions, externs and private helpers (func.func) only}}
llvm.func @other()
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'llvm.call' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    llvm.call @other() : () -> ()
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %n = arith.constant 4096 : i32
    // expected-error @below {{'llvm.alloca' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %p = llvm.alloca %n x f32 : (i32) -> !llvm.ptr
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'llvm.mlir.undef' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %p = llvm.mlir.undef : f32
    annudf.yield %acc : f32
  }
}

// -----

func.func private @h(%a: f32) -> f32 {
  return %a : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'func.constant' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %f = func.constant @h : (f32) -> f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{custom op 'annudf.update_packed' is unknown}}
    annudf.update_packed
  }
}
