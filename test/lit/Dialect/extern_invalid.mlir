// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What an extern declares, and how it is called.

// -----

// expected-error @below {{'annudf.extern' op [E1] returns 0 values; declare a function that returns one}}
annudf.extern @f convention(c) (f32) -> () link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E1] returns 2 values; declare a function that returns one}}
annudf.extern @f convention(c) (f32) -> (f32, f32) link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E2] takes 33 arguments, more than 32; pass fewer}}
annudf.extern @f convention(c) (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'f16' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (f16) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'bf16' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (bf16) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'i1' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (i1) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'i8' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (i8) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'ui16' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (ui16) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'si32' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (si32) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'index' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (index) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'tuple<f32>' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(c) (tuple<f32>) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E3] has 'i8' in its signature; use f32, f64, i32, i64, ui32 and ui64}}
annudf.extern @f convention(numba) (f32) -> i8 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [E4] has 0 kinds and 0 contents of code to link; give at least one, with its kind}}
"annudf.extern"() <{sym_name = "f", convention = #annudf.extern_convention<c>, signature = (f32) -> f32, kinds = [], contents = []}> : () -> ()

// -----

// expected-error @below {{'annudf.extern' op [E4] has 1 kinds and 2 contents of code to link; give at least one, with its kind}}
"annudf.extern"() <{sym_name = "f", convention = #annudf.extern_convention<c>, signature = (f32) -> f32, kinds = [#annudf.link_kind<ptx>], contents = ["x", "y"]}> : () -> ()

// -----

// expected-error @below {{'annudf.extern' op [E5] links 3 bytes that are not ltoir: LTO-IR begins with ed 43 4e 7f}}
annudf.extern @f convention(c) (f32) -> f32 link(ltoir "abc")

// -----

// expected-error @below {{'annudf.extern' op [E5] links 4 bytes that are not ltoir: LTO-IR begins with ed 43 4e 7f}}
annudf.extern @f convention(c) (f32) -> f32 link(ltoir "\EDCN\7F")

// -----

// expected-error @below {{'annudf.extern' op [E5] links 3 bytes that are not ptx: PTX is text with .version and .target}}
annudf.extern @f convention(c) (f32) -> f32 link(cuda_source "x", ptx "abc")

// -----

// expected-error @below {{'annudf.extern' op [E5] links 4 bytes that are not cubin: a cubin is an ELF file}}
annudf.extern @f convention(c) (f32) -> f32 link(cubin "\7FELF")

// -----

// expected-error @below {{'annudf.extern' op [E5] links 1 bytes that are not cuda_source: CUDA C++ is text without NUL}}
annudf.extern @f convention(c) (f32) -> f32 link(cuda_source " ")

// -----

// expected-error @below {{'annudf.extern' op [E5] links 2 bytes that are not cuda_source: CUDA C++ is text without NUL}}
annudf.extern @f convention(c) (f32) -> f32 link(cuda_source "x\00")

// -----

// expected-error @below {{custom op 'annudf.extern' unknown link_kind 'fatbin'; write ltoir, ptx, cubin or cuda_source}}
annudf.extern @f convention(c) (f32) -> f32 link(fatbin "x")

// -----

// expected-error @below {{custom op 'annudf.extern' unknown extern_convention 'raw'; write c or numba}}
annudf.extern @f convention(raw) (f32) -> f32 link(cuda_source "x")

// -----

// expected-error @below {{'annudf.extern' op [M15] carries attribute 'nodebug', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
annudf.extern @f convention(c) (f32) -> f32 link(cuda_source "x") attributes {nodebug}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call' op [E6] calls 'g', which is no annudf.extern of the module; declare it}}
    %r = annudf.call @g(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call' op [E6] calls 'm', which is no annudf.extern of the module; declare it}}
    %r = annudf.call @m(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call' op [E7] calls 'f' as '(f32, f32) -> f32', but it is declared as '(f32, i32) -> f32'; call it as that}}
    %r = annudf.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call' op [E7] calls 'f' as '(f32) -> f32', but it is declared as '(f32, i32) -> f32'; call it as that}}
    %r = annudf.call @f(%x) : (f32) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = arith.constant 1 : i32
    %r = arith.addf %x, %y : f32
    // expected-error @below {{'annudf.call' op [E7] calls 'f' as '(f32, i32) -> i32', but it is declared as '(f32, i32) -> f32'; call it as that}}
    %s = annudf.call @f(%x, %i) : (f32, i32) -> i32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = arith.constant 1 : i64
    // expected-error @below {{'annudf.call' op [E7] calls 'f' as '(f32, i64) -> f32', but it is declared as '(f32, i32) -> f32'; call it as that}}
    %r = annudf.call @f(%x, %i) : (f32, i64) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.call' op [E7] calls 'f' as '() -> f32', but it is declared as '(f32, i32) -> f32'; call it as that}}
    %r = annudf.call @f() : () -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, ui32) -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = arith.constant 1 : i32
    // expected-error @below {{'annudf.call' op [M15] carries attribute 'fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
    %r = annudf.call @f(%x, %i) {fast} : (f32, i32) -> f32
    annudf.yield %r : f32
  }
}

// -----

annudf.extern @f convention(c) () -> f32 link(cuda_source "x")
annudf.metric @m order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.call' op [M1] cannot stand in a metric; only captures and hooks can, so move it into the hook that uses it}}
  %r = annudf.call @f() : () -> f32
}

// -----

annudf.extern @f convention(c) () -> f32 link(cuda_source "x")
annudf.filter @m {
  // expected-error @below {{'annudf.call' op [K1] cannot stand in a filter; only captures and annudf.keep can, so move it into annudf.keep}}
  %r = annudf.call @f() : () -> f32
}

// -----

annudf.extern @f convention(c) () -> f32 link(cuda_source "x")
annudf.function @m convention(c) () -> f32 {
  // expected-error @below {{'annudf.call' op [D1] cannot stand in a function; only captures and annudf.body can, so move it into annudf.body}}
  %r = annudf.call @f() : () -> f32
}

// -----

// expected-error @below {{'annudf.call' op requires attribute 'callee'}}
%r = "annudf.call"() : () -> f32

// -----

// expected-error @below {{'annudf.call' op requires one result}}
"annudf.call"() <{callee = @f}> : () -> ()
