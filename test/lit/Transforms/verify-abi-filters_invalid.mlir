// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// What a filter may not read, and the rules that it shares with metrics.

annudf.filter @f {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.keep {
    // expected-error @below {{'annudf.index' op [K7] dim has no meaning in a filter, which sees no coordinates; read row, query, list or dims}}
    %dim = annudf.index dim
    %v = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %zero = arith.constant 0.0 : f32
    %b = arith.cmpf ogt, %v, %zero : f32
    annudf.yield %b : i1
  }
}

// -----

// The same proofs as in a metric.
annudf.filter @f {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  annudf.keep {
    %row = annudf.index row
    %one = arith.constant 1 : index
    %next = arith.addi %row, %one : index
    // expected-error @below {{'annudf.load' op [L4] index of extent row cannot be proved to be inside it: only annudf.index row itself is; index that extent by it, without arithmetic}}
    %p = annudf.load %price[%next] : !annudf.capture<row x f32>
    %zero = arith.constant 0.0 : f32
    %b = arith.cmpf ogt, %p, %zero : f32
    annudf.yield %b : i1
  }
}

// -----

annudf.filter @f {
  %mine = annudf.capture "mine" : !annudf.capture<query x i32>
  annudf.keep {
    %row = annudf.index row
    // expected-error @below {{'annudf.load' op [L4] index of extent query cannot be proved to be inside it: only annudf.index query itself is; index that extent by it, without arithmetic}}
    %m = annudf.load %mine[%row] : !annudf.capture<query x i32>
    %zero = arith.constant 0 : i32
    %b = arith.cmpi eq, %m, %zero : i32
    annudf.yield %b : i1
  }
}

// -----

annudf.filter @f {
  %table = annudf.capture "table" : !annudf.capture<16 x f32>
  annudf.keep {
    %list = annudf.index list
    // expected-error @below {{'annudf.load' op [L3] index of extent 16 may be as large as 2147483647, but the extent ends at 15; bound it above, as min(i, 15) does}}
    %v = annudf.load %table[%list] : !annudf.capture<16 x f32>
    %zero = arith.constant 0.0 : f32
    %b = arith.cmpf ogt, %v, %zero : f32
    annudf.yield %b : i1
  }
}

// -----

annudf.filter @f {
  annudf.keep {
    %row = annudf.index row
    %list = annudf.index list
    // expected-error-re @below {{'arith.remui' op [B4] may divide by zero, {{.*}}}}
    %rest = arith.remui %row, %list : index
    %zero = arith.constant 0 : index
    %b = arith.cmpi eq, %rest, %zero : index
    annudf.yield %b : i1
  }
}

// -----

annudf.filter @f {
  annudf.keep {
    // expected-error @below {{'arith.constant' op [B12] carries attribute 'pure', which has no meaning in a body; drop it}}
    %true = arith.constant {pure} true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M12] has a name that a device compiler refuses; use letters, digits and _, not beginning with a digit}}
annudf.filter @"a-b" {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M16] has a name of 256 bytes, more than 255; shorten it}}
annudf.filter @nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M17] is for 1048577 dimensions, more than 1048576; fix fewer, or leave dims out}}
annudf.filter @f dims(1048577) {
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}

// -----

// expected-error @below {{'annudf.filter' op [M14] binds 65 captures, more than 64; bake some in with annudf-inline-captures}}
annudf.filter @f {
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
  annudf.keep {
    %true = arith.constant true
    annudf.yield %true : i1
  }
}
