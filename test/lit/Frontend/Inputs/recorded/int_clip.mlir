// What numba-cuda-mlir 0.6.0 emits for `int_clip` of ../functions.py, recorded by ../../record.
// RUN lines are in ../../recorded.test.
module {
  func.func private @int_clip_update(%arg0: i32 loc("functions.py":189:0), %arg1: i32 loc("functions.py":189:0), %arg2: i32 loc("functions.py":189:0)) -> i32 {
    %alloca = memref.alloca() : memref<1xi64> loc("functions.py":189:0)
    %0 = arith.extsi %arg0 : i32 to i64 loc("functions.py":190:9)
    %1 = arith.extsi %arg1 : i32 to i64 loc("functions.py":190:9)
    %2 = arith.subi %0, %1 overflow<nsw> : i64 loc("functions.py":190:9)
    %c100_i64 = arith.constant 100 : i64 loc("functions.py":191:12)
    %3 = arith.cmpi sgt, %2, %c100_i64 : i64 loc("functions.py":191:8)
    cf.cond_br %3, ^bb1, ^bb2 loc("functions.py":191:8)
  ^bb1:  // pred: ^bb0
    %c100_i64_0 = arith.constant 100 : i64 loc("functions.py":192:13)
    %c0 = arith.constant 0 : index loc("functions.py":192:13)
    memref.store %c100_i64_0, %alloca[%c0] : memref<1xi64> loc("functions.py":192:13)
    cf.br ^bb4 loc("functions.py":192:9)
  ^bb2:  // pred: ^bb0
    %c0_1 = arith.constant 0 : index loc("functions.py":193:10)
    memref.store %2, %alloca[%c0_1] : memref<1xi64> loc("functions.py":193:10)
    %c-100_i64 = arith.constant -100 : i64 loc("functions.py":193:14)
    %4 = arith.cmpi slt, %2, %c-100_i64 : i64 loc("functions.py":193:10)
    cf.cond_br %4, ^bb3, ^bb4 loc("functions.py":193:10)
  ^bb3:  // pred: ^bb2
    %c-100_i64_2 = arith.constant -100 : i64 loc("functions.py":194:13)
    %c0_3 = arith.constant 0 : index loc("functions.py":194:13)
    memref.store %c-100_i64_2, %alloca[%c0_3] : memref<1xi64> loc("functions.py":194:13)
    cf.br ^bb4 loc("functions.py":195:12)
  ^bb4:  // 3 preds: ^bb1, ^bb2, ^bb3
    %c0_4 = arith.constant 0 : index loc("functions.py":195:18)
    %5 = memref.load %alloca[%c0_4] : memref<1xi64> loc("functions.py":195:18)
    %c0_5 = arith.constant 0 : index loc("functions.py":195:18)
    %6 = memref.load %alloca[%c0_5] : memref<1xi64> loc("functions.py":195:18)
    %7 = arith.muli %5, %6 overflow<nsw> : i64 loc("functions.py":195:18)
    %8 = arith.extsi %arg2 : i32 to i64 loc("functions.py":195:12)
    %9 = arith.addi %8, %7 overflow<nsw> : i64 loc("functions.py":195:12)
    %10 = arith.trunci %9 : i64 to i32 loc("functions.py":195:5)
    return %10 : i32 loc("functions.py":195:5)
  } loc("functions.py":189:0)
  annudf.metric @int_clip order(min) coarse(l2) elements(i8, u8) {
    annudf.init {
      %0 = arith.constant 0 : i32
      annudf.yield %0 : i32
    }
    annudf.update (%acc: i32, %x: i32, %y: i32) {
      %r = func.call @int_clip_update(%x, %y, %acc) : (i32, i32, i32) -> i32
      annudf.yield %r : i32
    }
  }
}
