// What only a module can hold that skipped annudf-verify-abi is refused by name.
// RUN: annudf-opt %s --annudf-lower-to-nvvm --split-input-file --verify-diagnostics

// expected-error @below {{annudf-lower-to-nvvm: the module holds no annudf.metric, annudf.filter or annudf.function}}
module {
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{failed to legalize operation 'math.clampf' that was explicitly marked illegal}}
    %0 = math.clampf %x to [%acc, %y] : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'arith.truncf' op annudf-lower-to-nvvm: type bf16 has no lowering; use f32}}
    %0 = arith.truncf %x : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    annudf.yield %1 : f32
  }
}

// -----

// expected-error @below {{annudf-lower-to-nvvm: element f32 cannot reach a body that takes coordinates as 'i32'}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    annudf.yield %x : i32
  }
}

// -----

// expected-error @below {{annudf-lower-to-nvvm: function 'rand' has no body; a metric may only call private helpers of its own module}}
func.func private @rand() -> f32
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @rand() : () -> f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<row x dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: index of extent row is not proved to be inside it; annudf-verify-abi says what is missing}}
    %0 = annudf.load %w[%d, %d] : !annudf.capture<row x dim x f32>
    annudf.yield %0 : f32
  }
}

// -----

// The lowering proves every load again, and refuses what it cannot prove.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %one = arith.constant 1 : index
    %e = arith.addi %d, %one : index
    // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: index of extent dim is not proved to be inside it; annudf-verify-abi says what is missing}}
    %0 = annudf.load %w[%e] : !annudf.capture<dim x f32>
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  %t = annudf.capture "t" : !annudf.capture<16 x 200 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %c = arith.constant 15 : i32
    %m = arith.minsi %x, %c : i32
    %i = arith.index_cast %m : i32 to index
    %j = arith.index_cast %y : i32 to index
    // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: index of extent 200 is not proved to be inside it; annudf-verify-abi says what is missing}}
    %0 = annudf.load %t[%i, %j] : !annudf.capture<16 x 200 x f32>
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op annudf-lower-to-nvvm: binds 1 capture, which convention(c) has no argument for; give them values with annudf-inline-captures, or use convention(raw)}}
annudf.function @f convention(c) (f32) -> f32 {
  %s = annudf.capture "scale" : !annudf.capture<f32>
  annudf.body (%a: f32) {
    %r = annudf.load %s[] : !annudf.capture<f32>
    annudf.yield %r : f32
  }
}
