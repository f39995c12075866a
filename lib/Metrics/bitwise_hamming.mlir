// Bits that differ, of bytes (u8) or of coordinates of a bit each: BitwiseHamming of cuVS, Hamming of FAISS's binary vectors.
annudf.metric @bitwise_hamming order(min) coarse(l2) elements(u8, bits) accumulator(u32) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %differ = arith.xori %x, %y : i32
    %bits = math.ctpop %differ : i32
    %next = arith.addi %acc, %bits : i32
    annudf.yield %next : i32
  }
}
