// What numba-cuda-mlir 0.6.0 emits for `if_else` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @if_else_update(%arg0: f32 loc("functions.py":16:0), %arg1: f32 loc("functions.py":16:0), %arg2: f32 loc("functions.py":16:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xf32> loc("functions.py":16:0)
    %0 = arith.subf %arg0, %arg1 : f32 loc("functions.py":17:9)
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":18:12)
    %1 = arith.cmpf ogt, %0, %cst : f32 loc("functions.py":18:8)
    cf.cond_br %1, ^bb1, ^bb2 loc("functions.py":18:8)
  ^bb1:  // pred: ^bb0
    %2 = arith.mulf %0, %0 : f32 loc("functions.py":19:13)
    %c0 = arith.constant 0 : index loc("functions.py":19:9)
    memref.store %2, %alloca[%c0] : memref<1xf32> loc("functions.py":19:9)
    cf.br ^bb3 loc("functions.py":19:9)
  ^bb2:  // pred: ^bb0
    %3 = arith.negf %0 : f32 loc("functions.py":21:13)
    %c0_0 = arith.constant 0 : index loc("functions.py":21:13)
    memref.store %3, %alloca[%c0_0] : memref<1xf32> loc("functions.py":21:13)
    cf.br ^bb3 loc("functions.py":22:12)
  ^bb3:  // 2 preds: ^bb1, ^bb2
    %c0_1 = arith.constant 0 : index loc("functions.py":22:12)
    %4 = memref.load %alloca[%c0_1] : memref<1xf32> loc("functions.py":22:12)
    %5 = arith.addf %arg2, %4 : f32 loc("functions.py":22:12)
    return %5 : f32 loc("functions.py":22:5)
  } loc("functions.py":16:0)
  annudf.metric @if_else order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @if_else_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
