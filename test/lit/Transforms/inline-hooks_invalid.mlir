// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-inline-hooks

// The rules are checked before anything is inlined, and linked code is none of the module's.

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
func.func @kernel() -> f32 {
  %r = annudf.call_init @m() : () -> f32
  return %r : f32
}

// -----

annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }")
func.func private @helper(%x: f32, %y: f32) -> f32 {
  %r = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
  return %r : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @helper(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}
func.func @kernel(%a: f32) -> f32 {
  // expected-error @below {{'annudf.call_update' op [U10] calls annudf.update of @m, which calls linked code, and that is no code of the module; write what it computes as a helper}}
  %r = annudf.call_update @m(%a, %a, %a) : (f32, f32, f32) -> f32
  return %r : f32
}

// -----

// A hook calls no hook.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call_update' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %r = annudf.call_update @m(%acc, %x, %y) : (f32, f32, f32) -> f32
    annudf.yield %r : f32
  }
}
