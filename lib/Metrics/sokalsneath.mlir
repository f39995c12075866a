// Sokal-Sneath distance of booleans, a coordinate that is not 0 being true: 2 differing / (both + 2 differing), 0 / 0 being 0
// (scipy.spatial.distance.sokalsneath). Lists are ranked by L2.
annudf.metric @sokalsneath order(min) coarse(l2) elements(i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero, %zero : i32, i32
  }
  annudf.update (%both: i32, %differ: i32, %x: i32, %y: i32) {
    %false = arith.constant 0 : i32
    %bx = arith.cmpi ne, %x, %false : i32
    %by = arith.cmpi ne, %y, %false : i32
    %and = arith.andi %bx, %by : i1
    %xor = arith.xori %bx, %by : i1
    %one = arith.extui %and : i1 to i32
    %other = arith.extui %xor : i1 to i32
    %b = arith.addi %both, %one : i32
    %d = arith.addi %differ, %other : i32
    annudf.yield %b, %d : i32, i32
  }
  annudf.finalize (%both: i32, %differ: i32) {
    %double = arith.addi %differ, %differ : i32
    %part = arith.sitofp %double : i32 to f32
    %all = arith.addi %both, %double : i32
    %whole = arith.sitofp %all : i32 to f32
    %zero = arith.constant 0.0 : f32
    %ratio = arith.divf %part, %whole : f32
    %none = arith.cmpf oeq, %part, %zero : f32
    %distance = arith.select %none, %zero, %ratio : f32
    annudf.yield %distance : f32
  }
}
