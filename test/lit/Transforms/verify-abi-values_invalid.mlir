// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=artifact

// Bodies: types, flags and operands that could trap or make poison.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'arith.constant' op [B2] has a value of type 'vector<4xf32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.constant dense<1.0> : vector<4xf32>
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
    // expected-error @below {{'arith.constant' op [B2] has a value of type 'tensor<4xf32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.constant dense<1.0> : tensor<4xf32>
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
    // expected-error @below {{'arith.constant' op [B2] has a value of type 'bf16'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.constant 1.0 : bf16
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
    // expected-error @below {{'arith.extf' op [B2] has a value of type 'f128'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.extf %x : f32 to f128
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
    // expected-error @below {{'arith.constant' op [B2] has a value of type 'i128'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.constant 5 : i128
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
    // expected-error @below {{'arith.trunci' op [B2] has a value of type 'i7'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = arith.trunci %x : i32 to i7
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.constant true
    // expected-error @below {{'arith.select' op [B2] has a value of type '!annudf.capture<f32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %c = arith.select %t, %w, %w : !annudf.capture<f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %lb = arith.constant 0 : index
    %n = arith.constant 2 : index
    %one = arith.constant 1 : index
    // expected-error @below {{'scf.for' op [B2] has a value of type '!annudf.capture<f32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
    %v = scf.for %i = %lb to %n step %one iter_args(%c = %w) -> (!annudf.capture<f32>) {
      scf.yield %c : !annudf.capture<f32>
    }
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [B2] has a value of type 'tensor<4xf32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
func.func private @h(%a: tensor<4xf32>) -> f32 {
  %r = arith.constant 0.0 : f32
  return %r : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'func.func' op [B2] has a value of type 'memref<4xf32>'; use f16, f32, f64, i1, i8, i16, i32, i64 or index}}
func.func private @h(%a: memref<4xf32>) -> f32 {
  %r = arith.constant 0.0 : f32
  return %r : f32
}

annudf.metric @m order(min) coarse(l2) elements(f32) {
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
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %h = arith.truncf %x : f32 to f16
    // expected-error @below {{'math.exp' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.exp %h : f16
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
    %h = arith.truncf %x : f32 to f16
    // The product has 22 bits and f32 24: a sum in f32 would round before f16 does.
    // expected-error @below {{'math.fma' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.fma %h, %h, %h : f16
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
    %h = arith.truncf %x : f32 to f16
    // expected-error @below {{'math.sqrt' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.sqrt %h : f16
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
    %h = arith.truncf %x : f32 to f16
    // expected-error @below {{'math.isnan' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.isnan %h : f16
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
    %h = arith.truncf %x : f32 to f16
    // expected-error @below {{'math.floor' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.floor %h : f16
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
    %h = arith.truncf %x : f32 to f16
    // expected-error @below {{'math.powf' op [B3] is not defined for f16 in 1.0; widen with arith.extf, and narrow the result with arith.truncf}}
    %v = math.powf %h, %h : f16
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
    // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 255; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.divsi %x, %y : i32
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
    // expected-error @below {{'arith.divui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 255; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.divui %x, %y : i32
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
    // expected-error @below {{'arith.remsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 255; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.remsi %x, %y : i32
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
    // expected-error @below {{'arith.remui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from 0 to 255; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.remui %x, %y : i32
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
    %c = arith.constant 0 : i32
    // expected-error @below {{'arith.divui' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.divui %x, %c : i32
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
    %c = arith.constant 3 : i32
    %n = arith.subi %c, %c : i32
    // expected-error @below {{'arith.remsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is 0; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %v = arith.remsi %x, %n : i32
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
    %i = arith.fptosi %acc : f32 to i32
    %c = arith.constant -1 : i32
    // expected-error @below {{'arith.divsi' op [B5] may divide the smallest integer by -1, which overflows: the divisor is -1; divide by what cannot be -1, or subtract from 0 instead}}
    %v = arith.divsi %i, %c : i32
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
    %i = arith.fptosi %acc : f32 to i32
    %c = arith.constant -1 : i32
    // expected-error @below {{'arith.remsi' op [B5] may divide the smallest integer by -1, which overflows: the divisor is -1; divide by what cannot be -1, or subtract from 0 instead}}
    %v = arith.remsi %i, %c : i32
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
    // expected-error @below {{'arith.shli' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 255; shift by 0 to 31, such as y & 31}}
    %v = arith.shli %x, %y : i32
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
    // expected-error @below {{'arith.shrsi' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 255; shift by 0 to 31, such as y & 31}}
    %v = arith.shrsi %x, %y : i32
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
    // expected-error @below {{'arith.shrui' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is from 0 to 255; shift by 0 to 31, such as y & 31}}
    %v = arith.shrui %x, %y : i32
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
    %c = arith.constant 32 : i32
    // expected-error @below {{'arith.shli' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is 32; shift by 0 to 31, such as y & 31}}
    %v = arith.shli %x, %c : i32
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
    %c = arith.constant -1 : i32
    // expected-error @below {{'arith.shrui' op [B6] may shift 'i32' by 32 or more bits, which has no value: the amount is -1; shift by 0 to 31, such as y & 31}}
    %v = arith.shrui %x, %c : i32
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
    %c = arith.constant 64 : index
    // expected-error @below {{'arith.shli' op [B6] may shift 'index' by 64 or more bits, which has no value: the amount is 64; shift by 0 to 63, such as y & 63}}
    %v = arith.shli %i, %c : index
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
    // expected-error @below {{'arith.addi' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.addi %x, %y overflow<nsw> : i32
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
    // expected-error @below {{'arith.subi' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.subi %x, %y overflow<nsw> : i32
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
    // expected-error @below {{'arith.muli' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.muli %x, %y overflow<nsw> : i32
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
    // expected-error @below {{'arith.addi' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.addi %x, %y overflow<nuw> : i32
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
    %c = arith.constant 3 : i32
    // expected-error @below {{'arith.shli' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.shli %x, %c overflow<nsw, nuw> : i32
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
    // expected-error @below {{'arith.trunci' op [B7] promises not to overflow; drop overflow<nsw, nuw>, integers wrap around}}
    %v = arith.trunci %x overflow<nsw> : i32 to i8
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
    %c = arith.constant 3 : i32
    // expected-error @below {{'arith.divsi' op [B8] promises an exact result; drop exact}}
    %v = arith.divsi %x, %c exact : i32
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
    %c = arith.constant 3 : i32
    // expected-error @below {{'arith.divui' op [B8] promises an exact result; drop exact}}
    %v = arith.divui %x, %c exact : i32
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
    %c = arith.constant 3 : i32
    // expected-error @below {{'arith.shrsi' op [B8] promises an exact result; drop exact}}
    %v = arith.shrsi %x, %c exact : i32
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
    %c = arith.constant 3 : i32
    // expected-error @below {{'arith.shrui' op [B8] promises an exact result; drop exact}}
    %v = arith.shrui %x, %c exact : i32
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
    // expected-error @below {{'arith.addf' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = arith.addf %x, %y fastmath<nnan> : f32
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
    // expected-error @below {{'arith.addf' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = arith.addf %x, %y fastmath<ninf> : f32
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
    // expected-error @below {{'arith.addf' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = arith.addf %x, %y fastmath<fast> : f32
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
    // expected-error @below {{'arith.addf' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = arith.addf %x, %y fastmath<contract,nnan> : f32
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
    // expected-error @below {{'math.exp' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = math.exp %x fastmath<nnan> : f32
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
    // expected-error @below {{'arith.cmpf' op [B9] promises that no NaN or infinity occurs; drop nnan, ninf and fast, and keep reassoc, nsz, arcp, contract or afn}}
    %v = arith.cmpf ogt, %x, %y fastmath<ninf> : f32
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
    // expected-error @below {{'arith.fptosi' op [B10] converts to i1; compare with arith.cmpf instead}}
    %v = arith.fptosi %x : f32 to i1
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
    // expected-error @below {{'arith.fptoui' op [B10] converts to i1; compare with arith.cmpf instead}}
    %v = arith.fptoui %x : f32 to i1
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
    // expected-error @below {{'arith.truncf' op [B11] rounds toward_zero; only to_nearest_even is the same on every device, so drop it}}
    %v = arith.truncf %x toward_zero : f32 to f16
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
    // expected-error @below {{'arith.truncf' op [B11] rounds upward; only to_nearest_even is the same on every device, so drop it}}
    %v = arith.truncf %x upward : f32 to f16
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
    // expected-error @below {{'arith.truncf' op [B11] rounds downward; only to_nearest_even is the same on every device, so drop it}}
    %v = arith.truncf %x downward : f32 to f16
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
    // expected-error @below {{'arith.truncf' op [B11] rounds to_nearest_away; only to_nearest_even is the same on every device, so drop it}}
    %v = arith.truncf %x to_nearest_away : f32 to f16
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
    // expected-error @below {{'arith.addf' op [B12] carries attribute 'llvm.noundef', which has no meaning in a body; drop it}}
    %v = arith.addf %x, %y {llvm.noundef} : f32
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // expected-error @below {{'annudf.update' op [M15] carries attribute 'llvm.target_cpu', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.update (%acc: f32, %x: f32, %y: f32) attributes {llvm.target_cpu = "x"} {
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
    %c = arith.cmpf olt, %x, %y : f32
    // expected-error @below {{'math.absi' op [B13] is not defined for i1; widen with arith.extui}}
    %v = math.absi %c : i1
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
    %c = arith.cmpf olt, %x, %y : f32
    // expected-error @below {{'math.ctlz' op [B13] is not defined for i1; widen with arith.extui}}
    %v = math.ctlz %c : i1
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
    %c = arith.cmpf olt, %x, %y : f32
    // expected-error @below {{'math.cttz' op [B13] is not defined for i1; widen with arith.extui}}
    %v = math.cttz %c : i1
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
    %c = arith.cmpf olt, %x, %y : f32
    // expected-error @below {{'math.ctpop' op [B13] is not defined for i1; widen with arith.extui}}
    %v = math.ctpop %c : i1
    annudf.yield %acc : f32
  }
}
