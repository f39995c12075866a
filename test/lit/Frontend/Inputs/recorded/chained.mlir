// What numba-cuda-mlir 0.6.0 emits for `chained` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @chained_update(%arg0: f32 loc("functions.py":47:0), %arg1: f32 loc("functions.py":47:0), %arg2: f32 loc("functions.py":47:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xi8> loc("functions.py":47:0)
    %alloca_0 = memref.alloca() : memref<1xi8> loc("functions.py":47:0)
    %alloca_1 = memref.alloca() : memref<1xf32> loc("functions.py":47:0)
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":48:15)
    %0 = arith.negf %cst : f32 loc("functions.py":48:14)
    %1 = arith.cmpf olt, %0, %arg0 : f32 loc("functions.py":48:14)
    %2 = arith.extui %1 : i1 to i8 loc("functions.py":48:14)
    %c0 = arith.constant 0 : index loc("functions.py":48:14)
    memref.store %2, %alloca[%c0] : memref<1xi8> loc("functions.py":48:14)
    cf.cond_br %1, ^bb1, ^bb3 loc("functions.py":48:14)
  ^bb1:  // pred: ^bb0
    %3 = arith.cmpf ole, %arg0, %arg1 : f32 loc("functions.py":48:14)
    %4 = arith.extui %3 : i1 to i8 loc("functions.py":48:14)
    %c0_2 = arith.constant 0 : index loc("functions.py":48:14)
    memref.store %4, %alloca[%c0_2] : memref<1xi8> loc("functions.py":48:14)
    cf.cond_br %3, ^bb2, ^bb3 loc("functions.py":48:14)
  ^bb2:  // pred: ^bb1
    %cst_3 = arith.constant 5.000000e-01 : f32 loc("functions.py":48:31)
    %5 = arith.cmpf olt, %arg1, %cst_3 : f32 loc("functions.py":48:14)
    %6 = arith.extui %5 : i1 to i8 loc("functions.py":48:14)
    %c0_4 = arith.constant 0 : index loc("functions.py":48:14)
    memref.store %6, %alloca_0[%c0_4] : memref<1xi8> loc("functions.py":48:14)
    cf.br ^bb4 loc("functions.py":48:14)
  ^bb3:  // 2 preds: ^bb0, ^bb1
    %c0_5 = arith.constant 0 : index loc("functions.py":48:5)
    %7 = memref.load %alloca[%c0_5] : memref<1xi8> loc("functions.py":48:5)
    %c0_i8 = arith.constant 0 : i8 loc("functions.py":48:5)
    %8 = arith.cmpi ne, %7, %c0_i8 : i8 loc("functions.py":48:5)
    %9 = arith.extui %8 : i1 to i8 loc("functions.py":48:5)
    %c0_6 = arith.constant 0 : index loc("functions.py":48:5)
    memref.store %9, %alloca_0[%c0_6] : memref<1xi8> loc("functions.py":48:5)
    cf.br ^bb4 loc("functions.py":48:5)
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %c0_7 = arith.constant 0 : index loc("functions.py":48:5)
    %10 = memref.load %alloca_0[%c0_7] : memref<1xi8> loc("functions.py":48:5)
    %c0_i8_8 = arith.constant 0 : i8 loc("functions.py":48:5)
    %11 = arith.cmpi ne, %10, %c0_i8_8 : i8 loc("functions.py":48:5)
    cf.cond_br %11, ^bb5, ^bb6 loc("functions.py":49:19)
  ^bb5:  // pred: ^bb4
    %c0_9 = arith.constant 0 : index loc("functions.py":49:19)
    memref.store %arg0, %alloca_1[%c0_9] : memref<1xf32> loc("functions.py":49:19)
    cf.br ^bb7 loc("functions.py":49:19)
  ^bb6:  // pred: ^bb4
    %c0_10 = arith.constant 0 : index loc("functions.py":49:36)
    memref.store %arg1, %alloca_1[%c0_10] : memref<1xf32> loc("functions.py":49:36)
    cf.br ^bb7 loc("functions.py":49:12)
  ^bb7:  // 2 preds: ^bb5, ^bb6
    %c0_11 = arith.constant 0 : index loc("functions.py":49:12)
    %12 = memref.load %alloca_1[%c0_11] : memref<1xf32> loc("functions.py":49:12)
    %13 = arith.addf %arg2, %12 : f32 loc("functions.py":49:12)
    return %13 : f32 loc("functions.py":49:5)
  } loc("functions.py":47:0)
  annudf.metric @chained order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @chained_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
