// Hamming distance: the part of the coordinates that differ (scipy.spatial.distance.hamming). Lists are ranked by L2.
annudf.metric @hamming order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    %differ = arith.cmpf une, %x, %y : f32
    %one = arith.extui %differ : i1 to i32
    %next = arith.addi %acc, %one : i32
    annudf.yield %next : i32
  }
  annudf.finalize (%acc: i32) {
    %count = arith.sitofp %acc : i32 to f32
    %dims = annudf.index dims
    %number = arith.index_cast %dims : index to i32
    %whole = arith.sitofp %number : i32 to f32
    %distance = arith.divf %count, %whole : f32
    annudf.yield %distance : f32
  }
}
