// What numba-cuda-mlir 0.6.0 emits for `reassigned` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @reassigned_update(%arg0: f32 loc("functions.py":161:0), %arg1: f32 loc("functions.py":161:0), %arg2: f32 loc("functions.py":161:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xf32> loc("functions.py":161:0)
    %0 = arith.subf %arg0, %arg1 : f32 loc("functions.py":163:9)
    %c0 = arith.constant 0 : index loc("functions.py":163:5)
    memref.store %0, %alloca[%c0] : memref<1xf32> loc("functions.py":163:5)
    %1 = arith.cmpf olt, %0, %arg1 : f32 loc("functions.py":164:8)
    cf.cond_br %1, ^bb1, ^bb2 loc("functions.py":164:8)
  ^bb1:  // pred: ^bb0
    %2 = arith.negf %0 : f32 loc("functions.py":165:13)
    %c0_0 = arith.constant 0 : index loc("functions.py":165:13)
    memref.store %2, %alloca[%c0_0] : memref<1xf32> loc("functions.py":165:13)
    cf.br ^bb2 loc("functions.py":166:9)
  ^bb2:  // 2 preds: ^bb0, ^bb1
    %c0_1 = arith.constant 0 : index loc("functions.py":166:9)
    %3 = memref.load %alloca[%c0_1] : memref<1xf32> loc("functions.py":166:9)
    %c0_2 = arith.constant 0 : index loc("functions.py":166:9)
    %4 = memref.load %alloca[%c0_2] : memref<1xf32> loc("functions.py":166:9)
    %5 = arith.mulf %3, %4 : f32 loc("functions.py":166:9)
    %6 = arith.addf %arg2, %5 : f32 loc("functions.py":167:5)
    return %6 : f32 loc("functions.py":168:5)
  } loc("functions.py":161:0)
  annudf.metric @reassigned order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @reassigned_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
