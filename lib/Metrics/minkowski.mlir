// Minkowski distance: (sum |q - b|^p)^(1/p); p = 1 is l1, p = 2 euclidean, p = inf chebyshev; of 0 and less there is none: NaN. The largest
// difference scales the sum as it grows, so that powers are at most 1 and neither overflow nor vanish. Lists are ranked by L2.
annudf.metric @minkowski order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero : f32, f32
  }
  annudf.update (%largest: f32, %sum: f32, %x: f32, %y: f32) {
    %order = annudf.load %p[] : !annudf.capture<f32>
    %one = arith.constant 1.0 : f32
    %diff = arith.subf %x, %y : f32
    %abs = math.absf %diff : f32
    %grows = arith.cmpf ogt, %abs, %largest : f32
    %high = arith.select %grows, %abs, %largest : f32
    %low = arith.select %grows, %largest, %abs : f32
    %ratio = arith.divf %low, %high : f32
    // Two zeros, and two differences beyond f32, are equal too.
    %equal = arith.cmpf oeq, %low, %high : f32
    %share = arith.select %equal, %one, %ratio : f32
    %power = math.powf %share, %order : f32
    %scaled = arith.select %grows, %sum, %one : f32
    %added = arith.select %grows, %one, %sum : f32
    %next = math.fma %scaled, %power, %added : f32
    annudf.yield %high, %next : f32, f32
  }
  annudf.finalize (%largest: f32, %sum: f32) {
    %order = annudf.load %p[] : !annudf.capture<f32>
    %one = arith.constant 1.0 : f32
    %inverse = arith.divf %one, %order : f32
    %root = math.powf %sum, %inverse : f32
    %whole = arith.mulf %largest, %root : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0x7FC00000 : f32
    // The root of equal vectors may be beyond f32.
    %same = arith.cmpf oeq, %largest, %zero : f32
    %apart = arith.select %same, %zero, %whole : f32
    %known = arith.cmpf ogt, %order, %zero : f32
    %distance = arith.select %known, %apart, %none : f32
    annudf.yield %distance : f32
  }
}
