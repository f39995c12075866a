// What numba-cuda-mlir 0.6.0 emits for `and_or` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @and_or_update(%arg0: f32 loc("functions.py":41:0), %arg1: f32 loc("functions.py":41:0), %arg2: f32 loc("functions.py":41:0)) -> f32 {
    %0 = arith.cmpf ogt, %arg0, %arg1 : f32 loc("functions.py":42:9)
    cf.cond_br %0, ^bb1, ^bb2 loc("functions.py":42:9)
  ^bb1:  // pred: ^bb0
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":42:23)
    %1 = arith.cmpf ogt, %arg0, %cst : f32 loc("functions.py":42:19)
    cf.cond_br %1, ^bb4, ^bb2 loc("functions.py":42:19)
  ^bb2:  // 2 preds: ^bb0, ^bb1
    %cst_0 = arith.constant 5.000000e-01 : f32 loc("functions.py":42:37)
    %2 = arith.cmpf ogt, %arg1, %cst_0 : f32 loc("functions.py":42:33)
    cf.cond_br %2, ^bb3, ^bb5 loc("functions.py":42:33)
  ^bb3:  // pred: ^bb2
    %cst_1 = arith.constant 5.000000e-01 : f32 loc("functions.py":42:51)
    %3 = arith.negf %cst_1 : f32 loc("functions.py":42:50)
    %4 = arith.cmpf olt, %arg0, %3 : f32 loc("functions.py":42:46)
    cf.cond_br %4, ^bb4, ^bb5 loc("functions.py":42:46)
  ^bb4:  // 2 preds: ^bb1, ^bb3
    %5 = arith.addf %arg2, %arg0 : f32 loc("functions.py":43:16)
    return %5 : f32 loc("functions.py":43:9)
  ^bb5:  // 2 preds: ^bb2, ^bb3
    %6 = arith.subf %arg2, %arg1 : f32 loc("functions.py":44:12)
    return %6 : f32 loc("functions.py":44:5)
  } loc("functions.py":41:0)
  annudf.metric @and_or order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @and_or_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
