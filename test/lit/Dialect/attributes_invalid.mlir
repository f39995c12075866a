// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What this version does not know is refused wherever a module is read: a later one may
// have given it a meaning.

// expected-error @below {{'annudf.metric' op [M15] carries attribute 'normalise', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
annudf.metric @m order(min) coarse(l2) elements(f32) attributes {normalise} {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [M15] carries attribute 'stride', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %w = annudf.capture "w" {stride = 2 : i64} : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [M15] carries attribute 'annudf.line', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) attributes {annudf.line = 7 : i64} {
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
    // expected-error @below {{'annudf.index' op [M15] carries attribute 'scale', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %d = annudf.index dim {scale = 2 : i64}
    annudf.yield %acc : f32
  }
}

// -----

// Properties of the generic form, which MLIR drops if an op has no such one.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{invalid properties {name = "w", stride = 2 : i64} for op annudf.capture: [M15] carries attribute 'stride', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %w = "annudf.capture"() <{name = "w", stride = 2 : i64}> : () -> !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{invalid properties {coarse = #annudf.coarse<l2>, elements = [#annudf.element<f32>], fused, order = #annudf.order<min>, sym_name = "m"} for op annudf.metric: [M15] carries attribute 'fused', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
"annudf.metric"() <{coarse = #annudf.coarse<l2>, elements = [#annudf.element<f32>], fused, order = #annudf.order<min>, sym_name = "m"}> ({
}) : () -> ()

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{invalid properties {kind = #annudf.index_kind<dim>, scale = 2 : i64} for op annudf.index: [M15] carries attribute 'scale', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %d = "annudf.index"() <{kind = #annudf.index_kind<dim>, scale = 2 : i64}> : () -> index
    annudf.yield %acc : f32
  }
}

// -----

// A string may have type f32, and is no number.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.capture' op [C2] has a value of type 'f32', which does not fit '!annudf.capture<f32>'; write a number of type 'f32'}}
  %p = annudf.capture "p" = "one" : f32 : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
