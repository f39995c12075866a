// Hellinger distance of distributions: sqrt(1 - sum sqrt(q b)), as cuVS's HellingerExpanded. Coordinates are 0 or above and sum to 1.
// Below 1e-3 it is the rounding of the sum. Lists are ranked by L2.
annudf.metric @hellinger order(min) coarse(l2) elements(f32, f16, bf16) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %product = arith.mulf %x, %y : f32
    %root = math.sqrt %product : f32
    %zero = arith.constant 0.0 : f32
    // A negative coordinate is none of a distribution: NaN.
    %least = arith.minimumf %x, %y : f32
    %none = arith.cmpf olt, %least, %zero : f32
    %nan = arith.constant 0x7FC00000 : f32
    %checked = arith.select %none, %nan, %root : f32
    %next = arith.addf %acc, %checked : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %rest = arith.subf %one, %acc : f32
    // Of two equal distributions the sum may round to more than 1.
    %square = arith.maximumf %rest, %zero : f32
    %root = math.sqrt %square : f32
    annudf.yield %root : f32
  }
}
