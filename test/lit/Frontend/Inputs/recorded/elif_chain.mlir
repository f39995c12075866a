// What numba-cuda-mlir 0.6.0 emits for `elif_chain` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @elif_chain_update(%arg0: f32 loc("functions.py":29:0), %arg1: f32 loc("functions.py":29:0), %arg2: f32 loc("functions.py":29:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xf32> loc("functions.py":29:0)
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":30:13)
    %0 = arith.negf %cst : f32 loc("functions.py":30:12)
    %1 = arith.cmpf olt, %arg0, %0 : f32 loc("functions.py":30:8)
    cf.cond_br %1, ^bb1, ^bb2 loc("functions.py":30:8)
  ^bb1:  // pred: ^bb0
    %c0 = arith.constant 0 : index loc("functions.py":31:9)
    memref.store %arg0, %alloca[%c0] : memref<1xf32> loc("functions.py":31:9)
    cf.br ^bb7 loc("functions.py":31:9)
  ^bb2:  // pred: ^bb0
    %cst_0 = arith.constant 5.000000e-01 : f32 loc("functions.py":32:14)
    %2 = arith.cmpf olt, %arg0, %cst_0 : f32 loc("functions.py":32:10)
    cf.cond_br %2, ^bb3, ^bb4 loc("functions.py":32:10)
  ^bb3:  // pred: ^bb2
    %3 = arith.mulf %arg0, %arg1 : f32 loc("functions.py":33:13)
    %c0_1 = arith.constant 0 : index loc("functions.py":33:13)
    memref.store %3, %alloca[%c0_1] : memref<1xf32> loc("functions.py":33:13)
    cf.br ^bb7 loc("functions.py":33:9)
  ^bb4:  // pred: ^bb2
    %cst_2 = arith.constant 5.000000e-01 : f32 loc("functions.py":34:14)
    %4 = arith.cmpf olt, %arg1, %cst_2 : f32 loc("functions.py":34:10)
    cf.cond_br %4, ^bb5, ^bb6 loc("functions.py":34:10)
  ^bb5:  // pred: ^bb4
    %c0_3 = arith.constant 0 : index loc("functions.py":35:9)
    memref.store %arg1, %alloca[%c0_3] : memref<1xf32> loc("functions.py":35:9)
    cf.br ^bb7 loc("functions.py":35:9)
  ^bb6:  // pred: ^bb4
    %5 = arith.addf %arg0, %arg1 : f32 loc("functions.py":37:13)
    %c0_4 = arith.constant 0 : index loc("functions.py":37:13)
    memref.store %5, %alloca[%c0_4] : memref<1xf32> loc("functions.py":37:13)
    cf.br ^bb7 loc("functions.py":38:12)
  ^bb7:  // 4 preds: ^bb1, ^bb3, ^bb5, ^bb6
    %c0_5 = arith.constant 0 : index loc("functions.py":38:12)
    %6 = memref.load %alloca[%c0_5] : memref<1xf32> loc("functions.py":38:12)
    %7 = arith.addf %arg2, %6 : f32 loc("functions.py":38:12)
    return %7 : f32 loc("functions.py":38:5)
  } loc("functions.py":29:0)
  annudf.metric @elif_chain order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @elif_chain_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
