annudf.metric @differences order(min) coarse(l2) elements(i8, u8, bits) accumulator(i32, u32) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero, %zero : i32, i32
  }
  annudf.update (%sizes: i32, %ones: i32, %x: i32, %y: i32) {
    %diff = arith.subi %x, %y : i32
    %size = math.absi %diff : i32
    %differ = arith.xori %x, %y : i32
    %mask = arith.constant 255 : i32
    %low = arith.andi %differ, %mask : i32
    %bits = math.ctpop %low : i32
    %nextSizes = arith.addi %sizes, %size : i32
    %nextOnes = arith.addi %ones, %bits : i32
    annudf.yield %nextSizes, %nextOnes : i32, i32
  }
  annudf.finalize (%sizes: i32, %ones: i32) {
    %many = arith.constant 64 : i32
    %scaled = arith.muli %sizes, %many : i32
    %sum = arith.addi %scaled, %ones : i32
    %distance = arith.sitofp %sum : i32 to f32
    annudf.yield %distance : f32
  }
}
