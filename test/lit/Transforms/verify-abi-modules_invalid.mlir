// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// What a metric reaches keeps the rules in any module.

gpu.module @kernels {
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    %w = annudf.capture "w" : !annudf.capture<dim x f32>
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %d = annudf.index dims
      // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
      %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
      annudf.yield %v : f32
    }
  }
}

// -----

gpu.module @outer {
  func.func private @again(%x: f32) -> f32 {
    // expected-error @below {{'func.call' op [F4] closes a recursion through @again; helpers cannot call themselves, use scf.for}}
    %r = func.call @again(%x) : (f32) -> f32
    return %r : f32
  }
  func.func @other() {
    func.call @other() : () -> ()
    return
  }
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @again(%acc) : (f32) -> f32
      annudf.yield %r : f32
    }
  }
}

// -----

func.func private @noise(%x: f32, %out: memref<f32>) {
  memref.store %x, %out[] : memref<f32>
  return
}

// expected-error @below {{'func.func' op [F1] is public, but only metrics leave a module; write func.func private}}
func.func @helper(%x: f32) -> f32 {
  return %x : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @helper(%acc) : (f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @helper(%x: f32) -> f32 {
  %m = memref.alloc() : memref<f32>
  return %x : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'arith.addf' op [B12] carries attribute 'fast', which has no meaning in a body; drop it}}
    %r = arith.addf %acc, %x {fast} : f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{'builtin.module' op [T3] holds no annudf.metric, annudf.filter or annudf.function; write one}}
module {
  gpu.module @kernels {
  }
}

// -----

// In a module inside a function too.
func.func @outside() {
  builtin.module {
    annudf.filter @f {
      annudf.keep {
        // expected-error @below {{'memref.alloc' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
        %m = memref.alloc() : memref<f32>
        %b = arith.constant true
        annudf.yield %b : i1
      }
    }
  }
  return
}
