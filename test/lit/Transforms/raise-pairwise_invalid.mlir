// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-hoist-prepare --annudf-raise-pairwise

// What is not one pass over the coordinates. Each is refused by name.

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W5] loops over a part of the coordinates; write a loop from 0 to the number of dimensions by 1}}
    %sum = scf.for %i = %step to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2 : index
    // expected-error @below {{[W5] loops over a part of the coordinates; write a loop from 0 to the number of dimensions by 1}}
    %sum = scf.for %i = %begin to %dims step %two iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %four = arith.constant 4 : index
    // expected-error @below {{[W5] loops over a part of the coordinates; write a loop from 0 to the number of dimensions by 1}}
    %sum = scf.for %i = %begin to %four step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %less = arith.subi %dims, %step : index
    // expected-error @below {{[W5] loops over a part of the coordinates; write a loop from 0 to the number of dimensions by 1}}
    %sum = scf.for %i = %begin to %less step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

// At 256 dimensions this end is 0.
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : i8
    %step = arith.constant 1 : i8
    %dims = annudf.index dims
    %narrow = arith.index_cast %dims : index to i8
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W5] loops over a part of the coordinates; write a loop from 0 to the number of dimensions by 1}}
    %sum = scf.for %i = %begin to %narrow step %step iter_args(%acc = %zero) -> (f32) : i8 {
      %at = arith.index_cast %i : i8 to index
      %xi = annudf.at %x[%at] : !annudf.vector<f32>
      %yi = annudf.at %y[%at] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{[W6] has no loop over the coordinates; write one from 0 to the number of dimensions at the top of the distance}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}

// -----

func.func private @helper(%x: !annudf.vector<f32>) -> f32 {
  %zero = arith.constant 0 : index
  %v = annudf.at %x[%zero] : !annudf.vector<f32>
  return %v : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    // expected-error @below {{[W7] takes a vector as a value; read its coordinates with annudf.at}}
    %h = func.call @helper(%x) : (!annudf.vector<f32>) -> f32
    %r = arith.addf %sum, %h : f32
    annudf.yield %r : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
    %v = annudf.at %x[%begin] : !annudf.vector<f32>
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    %r = arith.addf %sum, %v : f32
    annudf.yield %r : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      %j = arith.addi %i, %step : index
      // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
      %b = annudf.at %y[%j] : !annudf.vector<f32>
      %t = arith.addf %next, %b : f32
      scf.yield %t : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    %c = arith.cmpf ogt, %sum, %zero : f32
    %r = scf.if %c -> (f32) {
      // expected-error @below {{[W8] reads another coordinate than that of a loop over all of them; read both vectors at the loop's counter}}
      %v = annudf.at %x[%begin] : !annudf.vector<f32>
      scf.yield %v : f32
    } else {
      scf.yield %sum : f32
    }
    annudf.yield %r : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %mean = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %mean) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %mean = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    %n = arith.index_cast %dims : index to i32
    %f = arith.sitofp %n : i32 to f32
    %m = arith.divf %mean, %f : f32
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      %t = arith.subf %next, %m : f32
      scf.yield %t : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{[W10] does not depend on a loop over the coordinates; return what the loop computes}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %zero : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{[W11] carries 7 values through its loops, more than 6; compute some from others}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %r:7 = scf.for %i = %begin to %dims step %step iter_args(%a0 = %zero, %a1 = %zero, %a2 = %zero, %a3 = %zero, %a4 = %zero, %a5 = %zero, %a6 = %zero) -> (f32, f32, f32, f32, f32, f32, f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %n0 = arith.addf %a0, %xi : f32
      %n1 = arith.addf %a1, %xi : f32
      %n2 = arith.addf %a2, %xi : f32
      %n3 = arith.addf %a3, %xi : f32
      %n4 = arith.addf %a4, %xi : f32
      %n5 = arith.addf %a5, %xi : f32
      %n6 = arith.addf %a6, %xi : f32
      scf.yield %n0, %n1, %n2, %n3, %n4, %n5, %n6 : f32, f32, f32, f32, f32, f32, f32
    }
    %s1 = arith.addf %r#0, %r#1 : f32
    %s2 = arith.addf %s1, %r#2 : f32
    %s3 = arith.addf %s2, %r#3 : f32
    %s4 = arith.addf %s3, %r#4 : f32
    %s5 = arith.addf %s4, %r#5 : f32
    %s6 = arith.addf %s5, %r#6 : f32
    annudf.yield %s6 : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %h = arith.constant 0.0 : f16
    // expected-error @below {{[W12] carries a value of type 'f16' through a loop over the coordinates; use f32, f64, i32, i64, i1 or index}}
    %s = scf.for %i = %begin to %dims step %step iter_args(%acc = %h) -> (f16) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %t = arith.truncf %xi : f32 to f16
      %next = arith.addf %acc, %t : f16
      scf.yield %next : f16
    }
    %r = arith.extf %s : f16 to f32
    annudf.yield %r : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    // expected-error @below {{'arith.ceildivsi' op [B1] is not allowed in a body; write it with the scalar ops of arith and math, scf.if, scf.for, calls of private helpers, and annudf.index, load, call and yield}}
    %m = arith.ceildivsi %dims, %dims : index
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  %b = annudf.capture "b" : !annudf.capture<row x f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    // expected-error @below {{[W15] begins a loop over the coordinates with a value of the row; begin with a constant or a value of the query, and add the row's after the loop}}
    %row = annudf.index row
    %first = annudf.load %b[%row] : !annudf.capture<row x f32>
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %first) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %next = arith.addf %acc, %d : f32
      // expected-error @below {{'annudf.index' op [W14] dim has no meaning in annudf.distance; use the counter of its loop}}
      %j = annudf.index dim
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// -----

annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  // expected-error @below {{'annudf.distance' op [M15] carries attribute 'other.mark', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) attributes {other.mark} {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}
