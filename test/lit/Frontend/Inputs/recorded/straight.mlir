// What numba-cuda-mlir 0.6.0 emits for `straight` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @straight_update(%arg0: f32 loc("functions.py":11:0), %arg1: f32 loc("functions.py":11:0), %arg2: f32 loc("functions.py":11:0)) -> f32 {
    %0 = arith.subf %arg0, %arg1 : f32 loc("functions.py":12:9)
    %1 = arith.mulf %0, %0 : f32 loc("functions.py":13:18)
    %2 = arith.addf %arg2, %1 : f32 loc("functions.py":13:12)
    return %2 : f32 loc("functions.py":13:5)
  } loc("functions.py":11:0)
  annudf.metric @straight order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @straight_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
