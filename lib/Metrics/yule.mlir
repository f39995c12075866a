// Yule distance of booleans, a coordinate that is not 0 being true: 2 m n / (both neither + m n), m where the query alone and n where the row alone
// is true; 0 where m n is 0 (scipy.spatial.distance.yule). Lists are ranked by L2.
annudf.metric @yule order(min) coarse(l2) elements(i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero, %zero, %zero : i32, i32, i32
  }
  annudf.update (%both: i32, %mine: i32, %its: i32, %x: i32, %y: i32) {
    %false = arith.constant 0 : i32
    %bx = arith.cmpi ne, %x, %false : i32
    %by = arith.cmpi ne, %y, %false : i32
    %nx = arith.cmpi eq, %x, %false : i32
    %ny = arith.cmpi eq, %y, %false : i32
    %and = arith.andi %bx, %by : i1
    %left = arith.andi %bx, %ny : i1
    %right = arith.andi %nx, %by : i1
    %ib = arith.extui %and : i1 to i32
    %il = arith.extui %left : i1 to i32
    %ir = arith.extui %right : i1 to i32
    %b = arith.addi %both, %ib : i32
    %l = arith.addi %mine, %il : i32
    %r = arith.addi %its, %ir : i32
    annudf.yield %b, %l, %r : i32, i32, i32
  }
  annudf.finalize (%both: i32, %mine: i32, %its: i32) {
    %dims = annudf.index dims
    %count = arith.index_cast %dims : index to i32
    %known = arith.addi %mine, %its : i32
    %seen = arith.addi %both, %known : i32
    %neither = arith.subi %count, %seen : i32
    %fb = arith.sitofp %both : i32 to f32
    %fn = arith.sitofp %neither : i32 to f32
    %fl = arith.sitofp %mine : i32 to f32
    %fr = arith.sitofp %its : i32 to f32
    %agree = arith.mulf %fb, %fn : f32
    %cross = arith.mulf %fl, %fr : f32
    %whole = arith.addf %agree, %cross : f32
    %two = arith.constant 2.0 : f32
    %double = arith.mulf %two, %cross : f32
    %zero = arith.constant 0.0 : f32
    %ratio = arith.divf %double, %whole : f32
    %none = arith.cmpf oeq, %cross, %zero : f32
    %distance = arith.select %none, %zero, %ratio : f32
    annudf.yield %distance : f32
  }
}
