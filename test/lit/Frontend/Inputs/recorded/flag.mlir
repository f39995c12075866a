// What numba-cuda-mlir 0.6.0 emits for `flag` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @flag_update(%arg0: f32 loc("functions.py":171:0), %arg1: f32 loc("functions.py":171:0), %arg2: f32 loc("functions.py":171:0)) -> f32 {
    %alloca = memref.alloca() : memref<1xi8> loc("functions.py":171:0)
    %alloca_0 = memref.alloca() : memref<1xi8> loc("functions.py":171:0)
    %alloca_1 = memref.alloca() : memref<1xf32> loc("functions.py":171:0)
    %false = arith.constant false loc("functions.py":172:11)
    %0 = arith.extui %false : i1 to i8 loc("functions.py":172:5)
    %c0 = arith.constant 0 : index loc("functions.py":172:5)
    memref.store %0, %alloca[%c0] : memref<1xi8> loc("functions.py":172:5)
    %1 = arith.subf %arg0, %arg1 : f32 loc("functions.py":173:8)
    %cst = arith.constant 5.000000e-01 : f32 loc("functions.py":173:16)
    %2 = arith.cmpf ogt, %1, %cst : f32 loc("functions.py":173:8)
    cf.cond_br %2, ^bb1, ^bb2 loc("functions.py":173:8)
  ^bb1:  // pred: ^bb0
    %true = arith.constant true loc("functions.py":174:15)
    %3 = arith.extui %true : i1 to i8 loc("functions.py":174:15)
    %c0_2 = arith.constant 0 : index loc("functions.py":174:15)
    memref.store %3, %alloca[%c0_2] : memref<1xi8> loc("functions.py":174:15)
    cf.br ^bb2 loc("functions.py":175:16)
  ^bb2:  // 2 preds: ^bb0, ^bb1
    %c0_3 = arith.constant 0 : index loc("functions.py":175:12)
    %4 = memref.load %alloca[%c0_3] : memref<1xi8> loc("functions.py":175:12)
    %c0_i8 = arith.constant 0 : i8 loc("functions.py":175:12)
    %5 = arith.cmpi ne, %4, %c0_i8 : i8 loc("functions.py":175:12)
    %false_4 = arith.constant false loc("functions.py":175:12)
    %6 = arith.cmpi eq, %5, %false_4 : i1 loc("functions.py":175:12)
    %7 = arith.extui %6 : i1 to i8 loc("functions.py":175:12)
    %c0_5 = arith.constant 0 : index loc("functions.py":175:12)
    memref.store %7, %alloca_0[%c0_5] : memref<1xi8> loc("functions.py":175:12)
    cf.cond_br %6, ^bb3, ^bb4 loc("functions.py":175:12)
  ^bb3:  // pred: ^bb2
    %8 = arith.cmpf ogt, %arg0, %arg1 : f32 loc("functions.py":175:24)
    %9 = arith.extui %8 : i1 to i8 loc("functions.py":175:24)
    %c0_6 = arith.constant 0 : index loc("functions.py":175:24)
    memref.store %9, %alloca_0[%c0_6] : memref<1xi8> loc("functions.py":175:24)
    cf.br ^bb4 loc("functions.py":175:5)
  ^bb4:  // 2 preds: ^bb2, ^bb3
    %c0_7 = arith.constant 0 : index loc("functions.py":175:5)
    %10 = memref.load %alloca_0[%c0_7] : memref<1xi8> loc("functions.py":175:5)
    %c0_i8_8 = arith.constant 0 : i8 loc("functions.py":175:5)
    %11 = arith.cmpi ne, %10, %c0_i8_8 : i8 loc("functions.py":175:5)
    cf.cond_br %11, ^bb5, ^bb6 loc("functions.py":176:5)
  ^bb5:  // pred: ^bb4
    %12 = arith.addf %arg2, %arg0 : f32 loc("functions.py":177:16)
    return %12 : f32 loc("functions.py":177:9)
  ^bb6:  // pred: ^bb4
    %c0_9 = arith.constant 0 : index loc("functions.py":178:12)
    %13 = memref.load %alloca[%c0_9] : memref<1xi8> loc("functions.py":178:12)
    %c0_i8_10 = arith.constant 0 : i8 loc("functions.py":178:12)
    %14 = arith.cmpi ne, %13, %c0_i8_10 : i8 loc("functions.py":178:12)
    cf.cond_br %14, ^bb7, ^bb8 loc("functions.py":178:12)
  ^bb7:  // pred: ^bb6
    %15 = arith.addf %arg2, %arg1 : f32 loc("functions.py":178:12)
    %c0_11 = arith.constant 0 : index loc("functions.py":178:12)
    memref.store %15, %alloca_1[%c0_11] : memref<1xf32> loc("functions.py":178:12)
    cf.br ^bb9 loc("functions.py":178:12)
  ^bb8:  // pred: ^bb6
    %c0_12 = arith.constant 0 : index loc("functions.py":178:32)
    memref.store %arg2, %alloca_1[%c0_12] : memref<1xf32> loc("functions.py":178:32)
    cf.br ^bb9 loc("functions.py":178:5)
  ^bb9:  // 2 preds: ^bb7, ^bb8
    %c0_13 = arith.constant 0 : index loc("functions.py":178:5)
    %16 = memref.load %alloca_1[%c0_13] : memref<1xf32> loc("functions.py":178:5)
    return %16 : f32 loc("functions.py":178:5)
  } loc("functions.py":171:0)
  annudf.metric @flag order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %r = func.call @flag_update(%x, %y, %acc) : (f32, f32, f32) -> f32
      annudf.yield %r : f32
    }
  }
}
