// What numba-cuda-mlir 0.6.0 emits for `ternary` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @ternary_update(%arg0: f32 loc("functions.py":25:0), %arg1: f32 loc("functions.py":25:0), %arg2: f32 loc("functions.py":25:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xf32> loc("functions.py":25:0)
    %0 = arith.cmpf ogt, %arg0, %arg1 : f32 loc("functions.py":26:24)
    cf.cond_br %0, ^bb1, ^bb2 loc("functions.py":26:24)
  ^bb1:  // pred: ^bb0
    %c0 = arith.constant 0 : index loc("functions.py":26:19)
    memref.store %arg0, %alloca[%c0] : memref<1xf32> loc("functions.py":26:19)
    cf.br ^bb3 loc("functions.py":26:19)
  ^bb2:  // pred: ^bb0
    %c0_0 = arith.constant 0 : index loc("functions.py":26:35)
    memref.store %arg1, %alloca[%c0_0] : memref<1xf32> loc("functions.py":26:35)
    cf.br ^bb3 loc("functions.py":26:12)
  ^bb3:  // 2 preds: ^bb1, ^bb2
    %c0_1 = arith.constant 0 : index loc("functions.py":26:12)
    %1 = memref.load %alloca[%c0_1] : memref<1xf32> loc("functions.py":26:12)
    %2 = arith.addf %arg2, %1 : f32 loc("functions.py":26:12)
    return %2 : f32 loc("functions.py":26:5)
  } loc("functions.py":25:0)
  annudf.metric @ternary order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @ternary_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
