// RUN: annudf-opt %s --annudf-raise-pairwise --annudf-verify-abi | FileCheck %s

// One loop; the accumulator is the distance, so no finalize is written.
// CHECK-LABEL: annudf.metric @manhattan order(max) coarse(l2 max) elements(f32, f16) numerics(reassociate) dims(3) missing_values {
// CHECK-NEXT:    annudf.init {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      annudf.yield %[[ZERO]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32) {
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[X]], %[[Y]] : f32
// CHECK-NEXT:      %[[A:.*]] = math.absf %[[D]] : f32
// CHECK-NEXT:      %[[R:.*]] = arith.addf %[[ACC]], %[[A]] : f32
// CHECK-NEXT:      annudf.yield %[[R]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:  }
annudf.pairwise @manhattan order(max) coarse(l2 max) elements(f32, f16) numerics(reassociate) dims(3) missing_values {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %d = arith.subf %xi, %yi : f32
      %a = math.absf %d : f32
      %next = arith.addf %acc, %a : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// Two loops share the pass. What begins them reads a capture, a truth value is carried as i32, the
// second value of the first loop is for nobody, and a capture is read at the counter, which is an
// i64 here.
// CHECK-LABEL: annudf.metric @cosine order(min) coarse(cosine) elements(f32) {
// CHECK-NEXT:    %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
// CHECK-NEXT:    %[[S:.*]] = annudf.capture "start" : !annudf.capture<query x f32>
// CHECK-NEXT:    annudf.init {
// CHECK-DAG:       %[[QUERY:.*]] = annudf.index query
// CHECK-DAG:       %[[FALSE:.*]] = arith.constant false
// CHECK-DAG:       %[[BEGIN:.*]] = annudf.load %[[S]][%[[QUERY]]]
// CHECK-DAG:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:           %[[FLAG:.*]] = arith.extui %[[FALSE]] : i1 to i32
// CHECK-NEXT:      annudf.yield %[[BEGIN]], %[[FLAG]], %[[ZERO]] : f32, i32, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    annudf.update (%[[DOT:.*]]: f32, %[[SEEN32:.*]]: i32, %[[NORM:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32) {
// CHECK-NEXT:      %[[SEEN:.*]] = arith.trunci %[[SEEN32]] : i32 to i1
// CHECK-NEXT:      %[[DIM:.*]] = annudf.index dim
// CHECK-NEXT:      %[[V:.*]] = annudf.load %[[W]][%[[DIM]]]
// CHECK-NEXT:      %[[WX:.*]] = arith.mulf %[[V]], %[[X]]
// CHECK-NEXT:      %[[EQ:.*]] = arith.cmpf oeq, %[[X]], %[[Y]]
// CHECK-NEXT:      %[[ANY:.*]] = arith.ori %[[EQ]], %[[SEEN]]
// CHECK-NEXT:      %[[NEXT:.*]] = math.fma %[[WX]], %[[Y]], %[[DOT]]
// CHECK-NEXT:      %[[NEXTNORM:.*]] = math.fma %[[X]], %[[X]], %[[NORM]]
// CHECK-NEXT:      %[[ANY32:.*]] = arith.extui %[[ANY]] : i1 to i32
// CHECK-NEXT:      annudf.yield %[[NEXT]], %[[ANY32]], %[[NEXTNORM]] : f32, i32, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    annudf.finalize (%[[DOT:.*]]: f32, %[[SEEN32:.*]]: i32, %[[NORM:.*]]: f32) {
// CHECK-NEXT:      %[[SEEN:.*]] = arith.trunci %[[SEEN32]] : i32 to i1
// CHECK-NEXT:      %[[DIMS:.*]] = annudf.index dims
// CHECK:           %[[R:.*]] = arith.select %[[SEEN]]
// CHECK-NEXT:      annudf.yield %[[R]] : f32
annudf.pairwise @cosine order(min) coarse(cosine) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %start = annudf.capture "start" : !annudf.capture<query x f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : i64
    %step = arith.constant 1 : i64
    %n = annudf.index dims
    %dims = arith.index_cast %n : index to i64
    %query = annudf.index query
    %first = annudf.load %start[%query] : !annudf.capture<query x f32>
    %zero = arith.constant 0.0 : f32
    %false = arith.constant false
    %dot, %sum, %seen = scf.for %i = %begin to %dims step %step iter_args(%acc = %first, %unused = %zero, %flag = %false) -> (f32, f32, i1) : i64 {
      %at = arith.index_cast %i : i64 to index
      %xi = annudf.at %x[%at] : !annudf.vector<f32>
      %yi = annudf.at %y[%at] : !annudf.vector<f32>
      %wi = annudf.load %w[%at] : !annudf.capture<dim x f32>
      %wx = arith.mulf %wi, %xi : f32
      %more = arith.addf %unused, %xi : f32
      %c = arith.cmpf oeq, %xi, %yi : f32
      %any = arith.ori %c, %flag : i1
      %next = math.fma %wx, %yi, %acc : f32
      scf.yield %next, %more, %any : f32, f32, i1
    }
    %norm = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) : i64 {
      %at = arith.index_cast %i : i64 to index
      %xi = annudf.at %x[%at] : !annudf.vector<f32>
      %next = math.fma %xi, %xi, %acc : f32
      scf.yield %next : f32
    }
    %count = arith.sitofp %dims : i64 to f32
    %mean = arith.divf %norm, %count : f32
    %root = math.sqrt %mean : f32
    %r = arith.divf %dot, %root : f32
    %q = arith.select %seen, %r, %zero : f32
    annudf.yield %q : f32
  }
}

// Reads below a condition, a loop with constant bounds in the pass, a counter that is carried, and
// a value from before the loop in both hooks.
// CHECK-LABEL: annudf.metric @nested
// CHECK:         annudf.update (%[[ACC:.*]]: f32, %[[COUNT:.*]]: i64, %[[X:.*]]: i32, %[[Y:.*]]: i32) {
// CHECK:           %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:           arith.index_cast %[[COUNT]] : i64 to index
// CHECK:           scf.if
// CHECK:             arith.subi %[[X]], %[[Y]] : i32
// CHECK:             scf.for
// CHECK:         annudf.finalize (%{{.*}}: f32, %{{.*}}: i64) {
// CHECK:           arith.constant 5.000000e-01 : f32
annudf.pairwise @nested order(min) coarse(l2) elements(i8, u8) {
  annudf.distance (%x: !annudf.vector<i32>, %y: !annudf.vector<i32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %three = arith.constant 3 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %sum, %n = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero, %count = %begin) -> (f32, index) {
      %xi = annudf.at %x[%i] : !annudf.vector<i32>
      %none = arith.constant 0 : i32
      %c = arith.cmpi sgt, %xi, %none : i32
      %next = scf.if %c -> (f32) {
        %yi = annudf.at %y[%i] : !annudf.vector<i32>
        %d = arith.subi %xi, %yi : i32
        %f = arith.sitofp %d : i32 to f32
        %p = scf.for %j = %begin to %three step %step iter_args(%q = %f) -> (f32) {
          %t = arith.mulf %q, %half : f32
          scf.yield %t : f32
        }
        %s = arith.addf %acc, %p : f32
        scf.yield %s : f32
      } else {
        scf.yield %acc : f32
      }
      %more = arith.addi %count, %step : index
      scf.yield %next, %more : f32, index
    }
    %whole = arith.index_cast %n : index to i64
    %number = arith.sitofp %whole : i64 to f32
    %scaled = arith.mulf %number, %half : f32
    %r = arith.subf %sum, %scaled : f32
    annudf.yield %r : f32
  }
}

// In a module of another dialect too, where the names of others stay.
// CHECK: gpu.module @kernels {
// CHECK-NEXT: annudf.metric @inner
gpu.module @kernels {
  annudf.pairwise @inner order(min) coarse(l2) elements(f32) {
    annudf.distance (%x: !annudf.vector<f64>, %y: !annudf.vector<f64>) {
      %begin = arith.constant 0 : index
      %step = arith.constant 1 : index
      %dims = annudf.index dims
      %zero = arith.constant 0.0 : f64
      %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f64) {
        %xi = annudf.at %x[%i] : !annudf.vector<f64>
        %yi = annudf.at %y[%i] : !annudf.vector<f64>
        %next = math.fma %xi, %yi, %acc : f64
        scf.yield %next : f64
      }
      %r = arith.truncf %sum : f64 to f32
      annudf.yield %r : f32
    }
  }
}

// Loops in branches are computed whichever way is taken, after what they begin with; one of them is
// below two conditions.
// CHECK-LABEL: annudf.metric @branches
// CHECK:         annudf.init {
// CHECK-DAG:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:       %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:           annudf.yield %[[ZERO]], %[[TWO]] : f32, f32
// CHECK:         annudf.update (%[[SUM:.*]]: f32, %[[PRODUCT:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32) {
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[SUM]], %[[X]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[PRODUCT]], %[[Y]]
// CHECK-NEXT:      annudf.yield %[[S]], %[[P]] : f32, f32
// CHECK:         annudf.finalize
// CHECK:           scf.if
// CHECK:             scf.if
annudf.pairwise @branches order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %power = annudf.load %p[] : !annudf.capture<f32>
    %none = arith.cmpf oeq, %power, %zero : f32
    %r = scf.if %none -> (f32) {
      scf.yield %power : f32
    } else {
      %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
        %xi = annudf.at %x[%i] : !annudf.vector<f32>
        %next = arith.addf %acc, %xi : f32
        scf.yield %next : f32
      }
      %more = arith.cmpf ogt, %sum, %power : f32
      %q = scf.if %more -> (f32) {
        %two = arith.constant 2.0 : f32
        %product = scf.for %i = %begin to %dims step %step iter_args(%acc = %two) -> (f32) {
          %yi = annudf.at %y[%i] : !annudf.vector<f32>
          %next = arith.mulf %acc, %yi : f32
          scf.yield %next : f32
        }
        scf.yield %product : f32
      } else {
        scf.yield %sum : f32
      }
      scf.yield %q : f32
    }
    annudf.yield %r : f32
  }
}
