// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-hoist-prepare --annudf-raise-pairwise

// A capture for prepared values holds f32.
annudf.pairwise @not_prepared order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  annudf.distance (%x: !annudf.vector<f64>, %y: !annudf.vector<f64>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %row = annudf.index row
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %aged = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %single = arith.truncf %yi : f64 to f32
      %next = math.fma %single, %a, %acc : f32
      scf.yield %next : f32
    }
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %wide) -> (f64) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %next = arith.addf %acc, %yi : f64
      scf.yield %next : f64
    }
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f64>
      %d = arith.divf %xi, %sum : f64
      %single = arith.truncf %d : f64 to f32
      %next = arith.addf %acc, %single : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}

// -----

// Row numbers differ between the pairs with a vector.
annudf.pairwise @not_prepared order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  annudf.distance (%x: !annudf.vector<f64>, %y: !annudf.vector<f64>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %row = annudf.index row
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    %zero = arith.constant 0.0 : f32
    %wide = arith.constant 0.0 : f64
    %aged = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %single = arith.truncf %yi : f64 to f32
      %next = math.fma %single, %a, %acc : f32
      scf.yield %next : f32
    }
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %wide) -> (f64) {
      %yi = annudf.at %y[%i] : !annudf.vector<f64>
      %next = arith.addf %acc, %yi : f64
      scf.yield %next : f64
    }
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f64>
      %d = arith.addf %xi, %wide : f64
      %single = arith.truncf %d : f64 to f32
      %next = math.fma %single, %aged, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}

// -----

// Each value is looked at once, however many ways lead to it.
annudf.pairwise @squared_often order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %t0 = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %yi, %acc : f32
      scf.yield %next : f32
    }
    %t1 = arith.mulf %t0, %t0 : f32
    %t2 = arith.mulf %t1, %t1 : f32
    %t3 = arith.mulf %t2, %t2 : f32
    %t4 = arith.mulf %t3, %t3 : f32
    %t5 = arith.mulf %t4, %t4 : f32
    %t6 = arith.mulf %t5, %t5 : f32
    %t7 = arith.mulf %t6, %t6 : f32
    %t8 = arith.mulf %t7, %t7 : f32
    %t9 = arith.mulf %t8, %t8 : f32
    %t10 = arith.mulf %t9, %t9 : f32
    %t11 = arith.mulf %t10, %t10 : f32
    %t12 = arith.mulf %t11, %t11 : f32
    %t13 = arith.mulf %t12, %t12 : f32
    %t14 = arith.mulf %t13, %t13 : f32
    %t15 = arith.mulf %t14, %t14 : f32
    %t16 = arith.mulf %t15, %t15 : f32
    %t17 = arith.mulf %t16, %t16 : f32
    %t18 = arith.mulf %t17, %t17 : f32
    %t19 = arith.mulf %t18, %t18 : f32
    %t20 = arith.mulf %t19, %t19 : f32
    %t21 = arith.mulf %t20, %t20 : f32
    %t22 = arith.mulf %t21, %t21 : f32
    %t23 = arith.mulf %t22, %t22 : f32
    %t24 = arith.mulf %t23, %t23 : f32
    %t25 = arith.mulf %t24, %t24 : f32
    %t26 = arith.mulf %t25, %t25 : f32
    %t27 = arith.mulf %t26, %t26 : f32
    %t28 = arith.mulf %t27, %t27 : f32
    %t29 = arith.mulf %t28, %t28 : f32
    %t30 = arith.mulf %t29, %t29 : f32
    %t31 = arith.mulf %t30, %t30 : f32
    %t32 = arith.mulf %t31, %t31 : f32
    %t33 = arith.mulf %t32, %t32 : f32
    %t34 = arith.mulf %t33, %t33 : f32
    %t35 = arith.mulf %t34, %t34 : f32
    %t36 = arith.mulf %t35, %t35 : f32
    %t37 = arith.mulf %t36, %t36 : f32
    %t38 = arith.mulf %t37, %t37 : f32
    %t39 = arith.mulf %t38, %t38 : f32
    %t40 = arith.mulf %t39, %t39 : f32
    // expected-error @below {{[W9] loops over the coordinates with what an earlier loop computed, which takes two passes; compute both in one loop, or divide by it afterwards}}
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %t40, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
