// Russell-Rao distance of booleans, a coordinate that is not 0 being true: (dims - both) / dims (scipy.spatial.distance.russellrao). Lists
// are ranked by L2.
annudf.metric @russellrao order(min) coarse(l2) elements(i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero : i32
  }
  annudf.update (%both: i32, %x: i32, %y: i32) {
    %false = arith.constant 0 : i32
    %bx = arith.cmpi ne, %x, %false : i32
    %by = arith.cmpi ne, %y, %false : i32
    %and = arith.andi %bx, %by : i1
    %one = arith.extui %and : i1 to i32
    %next = arith.addi %both, %one : i32
    annudf.yield %next : i32
  }
  annudf.finalize (%both: i32) {
    %dims = annudf.index dims
    %count = arith.index_cast %dims : index to i32
    %rest = arith.subi %count, %both : i32
    %part = arith.sitofp %rest : i32 to f32
    %whole = arith.sitofp %count : i32 to f32
    %distance = arith.divf %part, %whole : f32
    annudf.yield %distance : f32
  }
}
