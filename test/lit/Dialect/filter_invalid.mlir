// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What a filter is made of, and which ones there are not.

annudf.filter @f {
  // expected-error @below {{'arith.constant' op [K1] cannot stand in a filter; only captures and annudf.keep can, so move it into annudf.keep}}
  %c = arith.constant 1.0 : f32
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

annudf.filter @f {
  // expected-error @below {{'annudf.init' op expects parent op 'annudf.metric'}}
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [K2] needs exactly one annudf.keep, found 0; write one}}
annudf.filter @f {
}

// -----

// expected-error @below {{'annudf.filter' op [K2] needs exactly one annudf.keep, found 2; keep one}}
annudf.filter @f {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M8] is for 0 dimensions; dims must be positive}}
annudf.filter @f dims(0) {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

annudf.filter @f {
  %a = annudf.capture "w" : !annudf.capture<f32>
  // expected-error @below {{'annudf.capture' op [M7] "w" is declared twice; rename one}}
  %b = annudf.capture "w" : !annudf.capture<f32>
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M15] carries attribute 'pure', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
annudf.filter @f attributes {pure} {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// Said twice.
// expected-error @below {{custom op 'annudf.filter' [M18] has 'sym_name' among its other attributes; say it once, in its own place}}
annudf.filter @f attributes {sym_name = "g"} {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// A policy of metrics.
// expected-error @below {{expected '{' to begin a region}}
annudf.filter @f order(min) {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op requires attribute 'sym_name'}}
"annudf.filter"() ({
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'annudf.filter' op requires one region}}
"annudf.filter"() <{sym_name = "f"}> : () -> ()

// -----

// expected-error @below {{'annudf.filter' op requires zero results}}
%r = "annudf.filter"() <{sym_name = "f"}> ({
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : () -> i32

// -----

%c = arith.constant 1 : i32
// expected-error @below {{'annudf.filter' op requires zero operands}}
"annudf.filter"(%c) <{sym_name = "f"}> ({
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : (i32) -> ()

// -----

// expected-error @below {{'annudf.filter' op expects region #0 to have 0 or 1 blocks}}
"annudf.filter"() <{sym_name = "f"}> ({
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
^bb1:
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'annudf.filter' op region should have no arguments}}
"annudf.filter"() <{sym_name = "f"}> ({
^bb0(%a: i32):
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : () -> ()

// -----

// Properties that it does not have.
// expected-error @below {{invalid properties {order = 1 : i32, sym_name = "f"} for op annudf.filter: [M15] carries attribute 'order', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
"annudf.filter"() <{sym_name = "f", order = 1 : i32}> ({
  "annudf.keep"() ({
    %true = arith.constant true
    annudf.yield %true : i1
  }) : () -> ()
}) : () -> ()

// -----

func.func private @g() {
  // expected-error @below {{'annudf.filter' op symbol's parent must have the SymbolTable trait}}
  annudf.filter @f {
    annudf.keep {
      %true = arith.constant true
      annudf.yield %true : i1
    }
  }
  func.return
}
