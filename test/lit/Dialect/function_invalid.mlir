// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What a device function is made of, and which ones there are not.

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'arith.constant' op [D1] cannot stand in a function; only captures and annudf.body can, so move it into annudf.body}}
  %c = arith.constant 1.0 : f32
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  // expected-error @below {{'annudf.keep' op expects parent op 'annudf.filter'}}
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.function' op [D2] needs exactly one annudf.body, found 0; write one}}
annudf.function @f convention(raw) (f32) -> f32 {
}

// -----

// expected-error @below {{'annudf.function' op [D2] needs exactly one annudf.body, found 2; keep one}}
annudf.function @f convention(raw) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D3] has 'bf16' in its signature; use f16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64 and tuples of them}}
annudf.function @f convention(raw) (bf16) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D3] has 'i7' in its signature; use f16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64 and tuples of them}}
annudf.function @f convention(raw) (f32) -> tuple<f32, tuple<i7>> {
  annudf.body (%a: f32) {
    annudf.yield %a, %a : f32, f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D3] has 'tuple<>' in its signature; use f16, f32, f64, i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64 and tuples of them}}
annudf.function @f convention(raw) (f32, tuple<>) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (tuple<f32, ui8>, i64) -> f32 {
  // expected-error @below {{'annudf.body' op [D4] takes 'f32', 'i64', but its function has 'f32', 'i8', 'i64'; take those}}
  annudf.body (%a: f32, %n: i64) {
    annudf.yield %a : f32
  }
}

// -----

annudf.function @f convention(raw) (f32) -> tuple<f32, ui8> {
  // expected-error @below {{'annudf.body' op [D5] yields 'f32', but its function returns 'f32', 'i8'; yield those}}
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D9] returns 2 values; return one, or a tuple}}
annudf.function @f convention(raw) (f32) -> (f32, f32) {
  annudf.body (%a: f32) {
    annudf.yield %a, %a : f32, f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D9] returns 0 values; return one, or a tuple}}
annudf.function @f convention(raw) (f32) -> () {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// Eight deep is not too deep.
annudf.function @f convention(raw) (tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<f32>>>>>>>>) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D11] nests tuples more than 8 deep; flatten some}}
annudf.function @f convention(raw) (tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<f32>>>>>>>>>) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [D12] has 65 numbers in its signature, more than 64; pass fewer}}
annudf.function @f convention(raw) (i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) -> i8 {
  annudf.body (%a: i8) {
    annudf.yield %a : i8
  }
}

// -----

annudf.function @f convention(raw) (f32) -> f32 {
  %p = annudf.capture "p" : !annudf.capture<f32>
  // expected-error @below {{'annudf.capture' op [M7] "p" is declared twice; rename one}}
  %q = annudf.capture "p" : !annudf.capture<f64>
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{custom op 'annudf.function' unknown convention 'cdecl'; write c or raw}}
annudf.function @f convention(cdecl) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
annudf.function @f convention(raw) (f32) -> f32 attributes {pure} {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

"func.func"() ({
  // expected-error @below {{'annudf.function' op symbol's parent must have the SymbolTable trait}}
  annudf.function @f convention(raw) (f32) -> f32 {
    annudf.body (%a: f32) {
      annudf.yield %a : f32
    }
  }
  func.return
}) {function_type = () -> (), sym_name = "outer"} : () -> ()
