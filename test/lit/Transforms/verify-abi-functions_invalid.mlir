// RUN: annudf-opt %s --annudf-verify-abi --split-input-file --verify-diagnostics

// Device functions: what only annudf-verify-abi asks.

annudf.function @f convention(raw) (ui8) -> f32 {
  // expected-error @below {{'annudf.capture' op [D6] has extent dim, but a function is called outside a search; write the number of entries}}
  %t = annudf.capture "t" : !annudf.capture<16 x dim x f32>
  annudf.body (%a: i8) {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> i64 {
  annudf.body (%a: f32) {
    // expected-error @below {{'annudf.index' op [D7] dims has no meaning in a function, which is called outside a search; take what it needs as an argument}}
    %d = annudf.index dims
    %r = arith.index_cast %d : index to i64
    annudf.yield %r : i64
  }
}

// -----

annudf.function @f convention(raw) (f32) -> i64 {
  annudf.body (%a: f32) {
    // expected-error @below {{'annudf.index' op [D7] row has no meaning in a function, which is called outside a search; take what it needs as an argument}}
    %d = annudf.index row
    %r = arith.index_cast %d : index to i64
    annudf.yield %r : i64
  }
}

// -----

// expected-error @below {{'annudf.function' op [D8] passes 'tuple<f32, f32>' by value, which compilers do in several ways; use convention(raw)}}
annudf.function @f convention(c) (f32) -> tuple<f32, f32> {
  annudf.body (%a: f32) {
    annudf.yield %a, %a : f32, f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D8] passes 'f16' by value, which compilers do in several ways; use convention(raw)}}
annudf.function @f convention(c) (f16) -> f32 {
  annudf.body (%a: f16) {
    %r = arith.extf %a : f16 to f32
    annudf.yield %r : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D10] has a reserved name; begin it with neither annudf nor __}}
annudf.function @annudf1_scan_init_s32 convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D10] has a reserved name; begin it with neither annudf nor __}}
annudf.function @__nv_sqrtf convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.function @"f.g" convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// An index of an argument's type alone is not proved.
annudf.function @f convention(raw) (ui16) -> f32 {
  %t = annudf.capture "t" : !annudf.capture<256 x f32>
  annudf.body (%a: i16) {
    %i = arith.index_castui %a : i16 to index
    // expected-error @below {{'annudf.load' op [L3] index of extent 256 may be as large as 65535, but the extent ends at 255; bound it above, as min(i, 255) does}}
    %r = annudf.load %t[%i] : !annudf.capture<256 x f32>
    annudf.yield %r : f32
  }
}

// -----

annudf.function @f convention(raw) (i32, i32) -> i32 {
  annudf.body (%a: i32, %b: i32) {
    // expected-error @below {{'arith.divsi' op [B4] may divide by zero, which stops the process on a CPU: the divisor is from -2147483648 to 2147483647; divide by what cannot be 0, as max(y, 1), or in floating point}}
    %r = arith.divsi %a, %b : i32
    annudf.yield %r : i32
  }
}
