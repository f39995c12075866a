// Jensen-Shannon distance: sqrt(sum (q log(q / m) + b log(b / m)) / 2) with m = (q + b) / 2 (scipy.spatial.distance.jensenshannon).
// Coordinates are 0 or above and sum to 1, which scipy makes them. Lists are ranked by L2.
annudf.metric @jensenshannon order(min) coarse(l2) elements(f32, f16, i8, u8) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %half = arith.constant 0.5 : f32
    %zero = arith.constant 0.0 : f32
    %whole = arith.addf %x, %y : f32
    %middle = arith.mulf %whole, %half : f32
    %rx = arith.divf %x, %middle : f32
    %lx = math.log %rx : f32
    %px = arith.mulf %x, %lx : f32
    %sx = arith.cmpf ogt, %x, %zero : f32
    %tx = arith.select %sx, %px, %zero : f32
    %ry = arith.divf %y, %middle : f32
    %ly = math.log %ry : f32
    %py = arith.mulf %y, %ly : f32
    %sy = arith.cmpf ogt, %y, %zero : f32
    %ty = arith.select %sy, %py, %zero : f32
    %terms = arith.addf %tx, %ty : f32
    %next = arith.addf %acc, %terms : f32
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
