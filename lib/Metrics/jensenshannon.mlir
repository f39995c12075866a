// Jensen-Shannon distance: sqrt(sum (q log(q / m) + b log(b / m)) / 2) with m = (q + b) / 2 (scipy.spatial.distance.jensenshannon).
// Coordinates are 0 or above and sum to 1, which scipy makes them. Below 2e-4 it is the rounding of the sum. Lists are ranked by L2.
annudf.metric @jensenshannon order(min) coarse(l2) elements(f32, f16, bf16) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0.0 : f32
    %whole = arith.addf %x, %y : f32
    // Half of a whole might be 0 where the whole is not.
    %ox = arith.divf %x, %whole : f32
    %rx = arith.addf %ox, %ox : f32
    %lx = math.log %rx : f32
    %px = arith.mulf %x, %lx : f32
    %sx = arith.cmpf ogt, %x, %zero : f32
    %tx = arith.select %sx, %px, %zero : f32
    %oy = arith.divf %y, %whole : f32
    %ry = arith.addf %oy, %oy : f32
    %ly = math.log %ry : f32
    %py = arith.mulf %y, %ly : f32
    %sy = arith.cmpf ogt, %y, %zero : f32
    %ty = arith.select %sy, %py, %zero : f32
    %terms = arith.addf %tx, %ty : f32
    // A negative coordinate is none of a distribution: NaN.
    %least = arith.minimumf %x, %y : f32
    %none = arith.cmpf olt, %least, %zero : f32
    %nan = arith.constant 0x7FC00000 : f32
    %checked = arith.select %none, %nan, %terms : f32
    %next = arith.addf %acc, %checked : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %half = arith.constant 0.5 : f32
    %zero = arith.constant 0.0 : f32
    %mean = arith.mulf %acc, %half : f32
    // Of two equal distributions the sum may round to less than 0.
    %square = arith.maximumf %mean, %zero : f32
    %root = math.sqrt %square : f32
    annudf.yield %root : f32
  }
}
