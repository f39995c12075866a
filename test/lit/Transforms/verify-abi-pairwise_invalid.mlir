// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi

// A coordinate before the first.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %before = arith.subi %i, %step : index
      // expected-error @below {{'annudf.at' op [W16] index of a coordinate may be -1, but the first is 0; bound it below, as max(i, 0) does}}
      %v = annudf.at %x[%before] : !annudf.vector<f32>
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// One past the last.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %dims = annudf.index dims
    // expected-error @below {{'annudf.at' op [W17] index of a coordinate may be as large as dims, but the last is dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.at %y[%dims] : !annudf.vector<f32>
    annudf.yield %v : f32
  }
}

// -----

// The second of at least one.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %one = arith.constant 1 : index
    // expected-error @below {{'annudf.at' op [W17] index of a coordinate may be as large as 1, but the last is dims - 1; bound it above, as min(i, dims - 1) does}}
    %v = annudf.at %x[%one] : !annudf.vector<f32>
    annudf.yield %v : f32
  }
}

// -----

// The data say which coordinate.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %v = annudf.at %x[%zero] : !annudf.vector<f32>
    %number = arith.fptosi %v : f32 to i64
    %i = arith.index_cast %number : i64 to index
    // expected-error @below {{'annudf.at' op [W16] index of a coordinate may be -9223372036854775808, but the first is 0; bound it below, as max(i, 0) does}}
    %w = annudf.at %y[%i] : !annudf.vector<f32>
    annudf.yield %w : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f64
    %s = annudf.scratch fill(%zero) : !annudf.scratch<dim x f64>
    scf.for %i = %begin to %dims step %step {
      %after = arith.addi %i, %step : index
      %before = arith.subi %i, %step : index
      // expected-error @below {{'annudf.get' op [W18] index of scratch may be -1, but the first entry is 0; bound it below, as max(i, 0) does}}
      %v = annudf.get %s[%before] : !annudf.scratch<dim x f64>
      // expected-error @below {{'annudf.put' op [W19] index of scratch may be as large as dims, but the last entry is dims - 1; bound it above, as min(i, dims - 1) does}}
      annudf.put %v, %s[%after] : !annudf.scratch<dim x f64>
    }
    %r = arith.constant 0.0 : f32
    annudf.yield %r : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %dims = annudf.index dims
    %two = arith.constant 2 : index
    %last = arith.addi %dims, %two : index
    %four = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %s = annudf.scratch fill(%zero) : !annudf.scratch<dim + 2 x f32>
    %t = annudf.scratch fill(%zero) : !annudf.scratch<4 x f32>
    // expected-error @below {{'annudf.put' op [W19] index of scratch may be as large as dims + 2, but the last entry is dims + 1; bound it above, as min(i, dims + 1) does}}
    annudf.put %zero, %s[%last] : !annudf.scratch<dim + 2 x f32>
    // expected-error @below {{'annudf.get' op [W19] index of scratch may be as large as 4, but the last entry is 3; bound it above, as min(i, 3) does}}
    %v = annudf.get %t[%four] : !annudf.scratch<4 x f32>
    annudf.yield %v : f32
  }
}

// -----

// The data say how often.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %v = annudf.at %x[%zero] : !annudf.vector<f32>
    %number = arith.fptosi %v : f32 to i64
    %end = arith.index_cast %number : i64 to index
    // expected-error @below {{'scf.for' op [W20] may run for ever: its end is not proved to be at most dims + 4096, or its step is no positive constant; count upwards to a constant or to dims, and choose inside the loop with if}}
    %sum = scf.for %i = %zero to %end step %step iter_args(%acc = %v) -> (f32) {
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// The step may be 0.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %dims = annudf.index dims
    %list = annudf.index list
    %v = annudf.at %x[%zero] : !annudf.vector<f32>
    // expected-error @below {{'scf.for' op [W20] may run for ever}}
    %sum = scf.for %i = %zero to %dims step %list iter_args(%acc = %v) -> (f32) {
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// What a loop runs beyond the dimensions counts, as constants do.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [S5]}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %more = arith.constant 4000 : index
    %hundred = arith.constant 100 : index
    %dims = annudf.index dims
    %end = arith.addi %dims, %more : index
    %v = annudf.at %x[%zero] : !annudf.vector<f32>
    %sum = scf.for %i = %zero to %end step %step iter_args(%a = %v) -> (f32) {
      %inner = scf.for %j = %zero to %end step %step iter_args(%b = %a) -> (f32) {
        %last = scf.for %k = %zero to %hundred step %step iter_args(%c = %b) -> (f32) {
          %next = arith.addf %c, %v : f32
          scf.yield %next : f32
        }
        scf.yield %last : f32
      }
      scf.yield %inner : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// As often as the square of the dimensions.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %square = arith.muli %dims, %dims : index
    %v = annudf.at %x[%zero] : !annudf.vector<f32>
    // expected-error @below {{'scf.for' op [W20] may run for ever}}
    %sum = scf.for %i = %zero to %square step %step iter_args(%acc = %v) -> (f32) {
      %next = arith.addf %acc, %v : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [W21] takes dims to the power of 3 steps; nest at most 2 loops over the dimensions}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%a = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %inner = scf.for %j = %begin to %dims step %step iter_args(%b = %a) -> (f32) {
        %most = scf.for %k = %i to %dims step %step iter_args(%c = %b) -> (f32) {
          %next = arith.addf %c, %xi : f32
          scf.yield %next : f32
        }
        scf.yield %most : f32
      }
      scf.yield %inner : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %s = annudf.scratch fill(%wide) : !annudf.scratch<dim + 8192 x f64>
    // expected-error @below {{'annudf.scratch' op [W22] makes 65544 bytes of scratch and 8 for each dimension, more than 65536 and 64; keep fewer or smaller arrays}}
    %t = annudf.scratch fill(%zero) : !annudf.scratch<2 x f32>
    annudf.yield %zero : f32
  }
}

// -----

// expected-error @below {{'annudf.pairwise' op [M13] accepts element type f32, but annudf.distance takes its coordinates as 'i32'; take them as f32 or list only i8, u8 and bits}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<i32>, %y: !annudf.vector<i32>) {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    // expected-error @below {{'annudf.index' op [W14] dim has no meaning in annudf.distance; use the counter of its loop}}
    %dim = annudf.index dim
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}

// -----

// A helper takes numbers.
// expected-error @below {{'func.func' op [B2] has a value of type '!annudf.scratch<4 x f32>'}}
func.func private @helper(%s: !annudf.scratch<4 x f32>) -> f32 {
  %zero = arith.constant 0 : index
  // expected-error @below {{'annudf.get' op [B1] is not allowed in a body}}
  %v = annudf.get %s[%zero] : !annudf.scratch<4 x f32>
  return %v : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    %s = annudf.scratch fill(%zero) : !annudf.scratch<4 x f32>
    %v = func.call @helper(%s) : (!annudf.scratch<4 x f32>) -> f32
    annudf.yield %v : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    scf.for %i = %begin to %dims step %step {
      // expected-error @below {{'annudf.scratch' op [W23] is made in a loop or a branch; make it at the top of the distance}}
      %s = annudf.scratch fill(%zero) : !annudf.scratch<4 x f32>
    }
    annudf.yield %zero : f32
  }
}

// -----

// One coordinate has no scratch.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'annudf.scratch' op [B1] is not allowed in a body}}
    %s = annudf.scratch fill(%x) : !annudf.scratch<4 x f32>
    %r = arith.addf %acc, %x : f32
    annudf.yield %r : f32
  }
}
