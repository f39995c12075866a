// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// annudf.load: its parts and where it stands. Its indices: captures_invalid.mlir and verify-abi-*_invalid.mlir.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.load' op operand #0 must be a read-only array or scalar bound before a search, but got 'f32'}}
    %v = "annudf.load"(%acc) : (f32) -> f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-note @below {{prior use here}}
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{use of value '%w' expects different type than prior uses: 'memref<4xf32>' vs '!annudf.capture<dim x f32>'}}
    %v = annudf.load %w[%x] : memref<4xf32>
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
    // expected-error @below {{'annudf.load' op operand #0 must be a read-only array or scalar bound before a search, but got 'f32'}}
    %v = annudf.load %acc[] : f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = arith.constant 0 : i32
    // expected-error @below {{'annudf.load' op operand #1 must be variadic of index, but got 'i32'}}
    %v = "annudf.load"(%w, %i) : (!annudf.capture<dim x f32>, i32) -> f32
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
    // expected-error @below {{'annudf.load' op expected 1 or more operands, but found 0}}
    %v = "annudf.load"() : () -> f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op requires one result}}
    "annudf.load"(%w, %d) : (!annudf.capture<dim x f32>, index) -> ()
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op requires zero regions}}
    %v = "annudf.load"(%w, %d) ({
    }) : (!annudf.capture<dim x f32>, index) -> f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op [M15] carries attribute 'volatile', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %v = annudf.load %w[%d] {volatile} : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{invalid properties {volatile} for op annudf.load: this operation does not support properties}}
    %v = "annudf.load"(%w, %d) <{volatile}> : (!annudf.capture<dim x f32>, index) -> f32
    annudf.yield %acc : f32
  }
}

// -----

// A load stands in a hook.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %s = annudf.capture "s" : !annudf.capture<f32>
  // expected-error @below {{'annudf.load' op [M1] cannot stand in a metric; only captures and hooks can, so move it into the hook that uses it}}
  %v = annudf.load %s[] : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
