// What numba-cuda-mlir 0.6.0 emits for `early_return` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @early_return_update(%arg0: f32 loc("functions.py":52:0), %arg1: f32 loc("functions.py":52:0), %arg2: f32 loc("functions.py":52:0)) -> f32 {
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":53:12)
    %0 = arith.cmpf ogt, %arg0, %cst : f32 loc("functions.py":53:8)
    cf.cond_br %0, ^bb1, ^bb2 loc("functions.py":53:8)
  ^bb1:  // pred: ^bb0
    return %arg2 : f32 loc("functions.py":54:9)
  ^bb2:  // pred: ^bb0
    %1 = arith.subf %arg0, %arg1 : f32 loc("functions.py":55:9)
    %cst_0 = arith.constant 5.000000e-01 : f32 loc("functions.py":56:13)
    %2 = arith.negf %cst_0 : f32 loc("functions.py":56:12)
    %3 = arith.cmpf olt, %1, %2 : f32 loc("functions.py":56:8)
    cf.cond_br %3, ^bb3, ^bb4 loc("functions.py":56:8)
  ^bb3:  // pred: ^bb2
    %4 = arith.subf %arg2, %1 : f32 loc("functions.py":57:16)
    return %4 : f32 loc("functions.py":57:9)
  ^bb4:  // pred: ^bb2
    %5 = arith.addf %arg2, %1 : f32 loc("functions.py":58:12)
    return %5 : f32 loc("functions.py":58:5)
  } loc("functions.py":52:0)
  annudf.metric @early_return order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @early_return_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
