// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=artifact

// Modules, metrics, captures and where they may be read.

// expected-error @below {{'builtin.module' op [T1] carries attribute 'dlti.dl_spec', which could change what the metrics mean; drop it}}
module attributes {dlti.dl_spec = 1 : i32} {
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      annudf.yield %acc : f32
    }
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// expected-error @below {{'builtin.module' op [T2] cannot stand beside a metric; a module holds metrics, filters, functions, externs and private helpers (func.func) only}}
module {
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// expected-error @below {{'llvm.mlir.global' op [T2] cannot stand beside a metric; a module holds metrics, filters, functions, externs and private helpers (func.func) only}}
llvm.mlir.global internal @g(1.0 : f32) : f32

// -----

// expected-error @below {{'builtin.module' op [T3] holds no annudf.metric, annudf.filter or annudf.function; write one}}
module {
}

// -----

// expected-error @below {{'annudf.metric' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.metric @"a-b" order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.metric @"1st" order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.metric @"a.b" order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.metric @"naïve" order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M13] accepts element type f32, but annudf.update takes its coordinates as 'i32'; take them as f32 or list only i8, u8 and bits}}
annudf.metric @m order(min) coarse(l2) elements(u8, f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M13] accepts element type f16, but annudf.update takes its coordinates as 'i32'; take them as f32 or list only i8, u8 and bits}}
annudf.metric @m order(min) coarse(l2) elements(u8, f16) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M14] binds 65 captures, more than 64; bake some in with annudf-inline-captures}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %c0 = annudf.capture "c0" : !annudf.capture<f32>
  %c1 = annudf.capture "c1" : !annudf.capture<f32>
  %c2 = annudf.capture "c2" : !annudf.capture<f32>
  %c3 = annudf.capture "c3" : !annudf.capture<f32>
  %c4 = annudf.capture "c4" : !annudf.capture<f32>
  %c5 = annudf.capture "c5" : !annudf.capture<f32>
  %c6 = annudf.capture "c6" : !annudf.capture<f32>
  %c7 = annudf.capture "c7" : !annudf.capture<f32>
  %c8 = annudf.capture "c8" : !annudf.capture<f32>
  %c9 = annudf.capture "c9" : !annudf.capture<f32>
  %c10 = annudf.capture "c10" : !annudf.capture<f32>
  %c11 = annudf.capture "c11" : !annudf.capture<f32>
  %c12 = annudf.capture "c12" : !annudf.capture<f32>
  %c13 = annudf.capture "c13" : !annudf.capture<f32>
  %c14 = annudf.capture "c14" : !annudf.capture<f32>
  %c15 = annudf.capture "c15" : !annudf.capture<f32>
  %c16 = annudf.capture "c16" : !annudf.capture<f32>
  %c17 = annudf.capture "c17" : !annudf.capture<f32>
  %c18 = annudf.capture "c18" : !annudf.capture<f32>
  %c19 = annudf.capture "c19" : !annudf.capture<f32>
  %c20 = annudf.capture "c20" : !annudf.capture<f32>
  %c21 = annudf.capture "c21" : !annudf.capture<f32>
  %c22 = annudf.capture "c22" : !annudf.capture<f32>
  %c23 = annudf.capture "c23" : !annudf.capture<f32>
  %c24 = annudf.capture "c24" : !annudf.capture<f32>
  %c25 = annudf.capture "c25" : !annudf.capture<f32>
  %c26 = annudf.capture "c26" : !annudf.capture<f32>
  %c27 = annudf.capture "c27" : !annudf.capture<f32>
  %c28 = annudf.capture "c28" : !annudf.capture<f32>
  %c29 = annudf.capture "c29" : !annudf.capture<f32>
  %c30 = annudf.capture "c30" : !annudf.capture<f32>
  %c31 = annudf.capture "c31" : !annudf.capture<f32>
  %c32 = annudf.capture "c32" : !annudf.capture<f32>
  %c33 = annudf.capture "c33" : !annudf.capture<f32>
  %c34 = annudf.capture "c34" : !annudf.capture<f32>
  %c35 = annudf.capture "c35" : !annudf.capture<f32>
  %c36 = annudf.capture "c36" : !annudf.capture<f32>
  %c37 = annudf.capture "c37" : !annudf.capture<f32>
  %c38 = annudf.capture "c38" : !annudf.capture<f32>
  %c39 = annudf.capture "c39" : !annudf.capture<f32>
  %c40 = annudf.capture "c40" : !annudf.capture<f32>
  %c41 = annudf.capture "c41" : !annudf.capture<f32>
  %c42 = annudf.capture "c42" : !annudf.capture<f32>
  %c43 = annudf.capture "c43" : !annudf.capture<f32>
  %c44 = annudf.capture "c44" : !annudf.capture<f32>
  %c45 = annudf.capture "c45" : !annudf.capture<f32>
  %c46 = annudf.capture "c46" : !annudf.capture<f32>
  %c47 = annudf.capture "c47" : !annudf.capture<f32>
  %c48 = annudf.capture "c48" : !annudf.capture<f32>
  %c49 = annudf.capture "c49" : !annudf.capture<f32>
  %c50 = annudf.capture "c50" : !annudf.capture<f32>
  %c51 = annudf.capture "c51" : !annudf.capture<f32>
  %c52 = annudf.capture "c52" : !annudf.capture<f32>
  %c53 = annudf.capture "c53" : !annudf.capture<f32>
  %c54 = annudf.capture "c54" : !annudf.capture<f32>
  %c55 = annudf.capture "c55" : !annudf.capture<f32>
  %c56 = annudf.capture "c56" : !annudf.capture<f32>
  %c57 = annudf.capture "c57" : !annudf.capture<f32>
  %c58 = annudf.capture "c58" : !annudf.capture<f32>
  %c59 = annudf.capture "c59" : !annudf.capture<f32>
  %c60 = annudf.capture "c60" : !annudf.capture<f32>
  %c61 = annudf.capture "c61" : !annudf.capture<f32>
  %c62 = annudf.capture "c62" : !annudf.capture<f32>
  %c63 = annudf.capture "c63" : !annudf.capture<f32>
  %c64 = annudf.capture "c64" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C7] name "a b" cannot be given on a command line; use letters, digits and _, not beginning with a digit}}
  %w = annudf.capture "a b" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C7] name "1" cannot be given on a command line; use letters, digits and _, not beginning with a digit}}
  %w = annudf.capture "1" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C7] name "a=b" cannot be given on a command line; use letters, digits and _, not beginning with a digit}}
  %w = annudf.capture "a=b" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C7] name "a.b" cannot be given on a command line; use letters, digits and _, not beginning with a digit}}
  %w = annudf.capture "a.b" : !annudf.capture<f32>
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
  // expected-error @below {{'annudf.capture' op [C8] has 4 extents, more than 3; join some in one}}
  %w = annudf.capture "w" : !annudf.capture<dim x dim x 2 x 2 x f32>
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
  // expected-error @below {{'annudf.capture' op [C9] extent row stands after another extent, and hooks do not know its size; put it first}}
  %w = annudf.capture "w" : !annudf.capture<dim x row x f32>
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
  // expected-error @below {{'annudf.capture' op [C9] extent query stands after another extent, and hooks do not know its size; put it first}}
  %w = annudf.capture "w" : !annudf.capture<row x query x f32>
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
  // expected-error @below {{'annudf.capture' op [C9] extent query stands after another extent, and hooks do not know its size; put it first}}
  %w = annudf.capture "w" : !annudf.capture<16 x dim x query x f32>
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
  // expected-error @below {{'annudf.capture' op [C9] extent row stands after another extent, and hooks do not know its size; put it first}}
  %w = annudf.capture "w" : !annudf.capture<row x row x f32>
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
  // expected-error @below {{'annudf.capture' op [C10] element type 'si8' is not supported; use f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64}}
  %w = annudf.capture "w" : !annudf.capture<dim x si8>
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
  // expected-error @below {{'annudf.capture' op [C10] element type 'si16' is not supported; use f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64}}
  %w = annudf.capture "w" : !annudf.capture<dim x si16>
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
  // expected-error @below {{'annudf.capture' op [C10] element type 'si32' is not supported; use f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64}}
  %w = annudf.capture "w" : !annudf.capture<dim x si32>
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
  // expected-error @below {{'annudf.capture' op [C10] element type 'si64' is not supported; use f16, bf16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32 or ui64}}
  %w = annudf.capture "w" : !annudf.capture<dim x si64>
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
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dims
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
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
    %d = arith.constant 1 : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as 1, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
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
    %one = arith.constant 1 : index
    %e = arith.addi %d, %one : index
    // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as dims, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.load %w[%e] : !annudf.capture<dim x f32>
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    %i = arith.fptosi %acc : f32 to i32
    %d = arith.index_cast %i : i32 to index
    // expected-error @below {{'annudf.load' op [L2] index of extent dim may be -2147483648, but the extent begins at 0; bound it below, as max(i, 0) does}}
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
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
    %lo = arith.constant 0 : index
    %n = arith.constant 4 : index
    %one = arith.constant 1 : index
    scf.for %i = %lo to %n step %one {
      // expected-error @below {{'annudf.load' op [L3] index of extent dim may be as large as 3, but the extent ends at dims - 1; bound it above, as min(i, dims - 1) does}}
      %v = annudf.load %w[%i] : !annudf.capture<dim x f32>
    }
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    // expected-error @below {{'annudf.index' op [H8] dim has no meaning in annudf.init; read it in annudf.update}}
    %d = annudf.index dim
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
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    // expected-error @below {{'annudf.index' op [H8] dim has no meaning in annudf.finalize; read it in annudf.update}}
    %d = annudf.index dim
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M16] has a name of 256 bytes, more than 255; shorten it}}
annudf.metric @nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op [M17] is for 1048577 dimensions, more than 1048576; fix fewer, or leave dims out}}
annudf.metric @m order(min) coarse(l2) elements(f32) dims(1048577) {
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
  // expected-error @below {{'annudf.capture' op [C11] has a name of 256 bytes, more than 255; shorten it}}
  %w = annudf.capture "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// As long and as large as may be.
annudf.metric @nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn order(min) coarse(l2) elements(f32) dims(1048576) {
  %w = annudf.capture "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

// init may be called once for all rows of a list.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    // expected-error @below {{'annudf.index' op [H8] row has no meaning in annudf.init; read it in annudf.update or annudf.finalize}}
    %row = annudf.index row
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----
// A part has seen many dimensions.
annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%a: f32, %b: f32) {
    // expected-error @below {{'annudf.index' op [H8] dim has no meaning in annudf.combine; read it in annudf.update}}
    %d = annudf.index dim
    annudf.yield %a : f32
  }
}
