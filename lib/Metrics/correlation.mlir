// Correlation distance: 1 - (q - mean(q)).(b - mean(b)) / (|q - mean(q)| |b - mean(b)|) (scipy.spatial.distance.correlation); 1 where one of them is constant.
// Squares are summed of differences from the mean of the coordinates before (Youngs and Cramer), not as sum x^2 - (sum x)^2 / dims, which loses the digits
// of vectors that are far from 0. Sums of coordinates are f64, so that in a constant vector those differences are exactly 0. Five sums are four
// fields: the two of squares, from which nothing is subtracted, share one. Lists are ranked by L2: far from 0 all cosines are nearly 1. Right for lengths less
// the mean from 1e-18 to 1e19.
annudf.metric @correlation order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f64
    %none = arith.constant 0 : i64
    annudf.yield %zero, %zero, %none, %zero : f64, f64, i64, f64
  }
  annudf.update (%sumX: f64, %sumY: f64, %squares: i64, %dot: f64, %x: f32, %y: f32) {
    // n (x - mean) of the n coordinates before, and what its square weighs: 1 / (n (n + 1)).
    %dim = annudf.index dim
    %before = arith.index_cast %dim : index to i32
    %one = arith.constant 1 : i32
    %after = arith.addi %before, %one : i32
    %most = arith.maxsi %before, %one : i32
    %n = arith.sitofp %before : i32 to f64
    %floatMost = arith.sitofp %most : i32 to f32
    %floatAfter = arith.sitofp %after : i32 to f32
    %unit = arith.constant 1.0 : f32
    %divisor = arith.mulf %floatMost, %floatAfter : f32
    %weight = arith.divf %unit, %divisor : f32

    %wideX = arith.extf %x : f32 to f64
    %wideY = arith.extf %y : f32 to f64
    %negX = arith.negf %sumX : f64
    %negY = arith.negf %sumY : f64
    %apartX = math.fma %wideX, %n, %negX : f64
    %apartY = math.fma %wideY, %n, %negY : f64
    %dx = arith.truncf %apartX : f64 to f32
    %dy = arith.truncf %apartY : f64 to f32
    %newX = arith.addf %sumX, %wideX : f64
    %newY = arith.addf %sumY, %wideY : f64

    %bits = arith.constant 32 : i64
    %lowX = arith.trunci %squares : i64 to i32
    %high = arith.shrui %squares, %bits : i64
    %lowY = arith.trunci %high : i64 to i32
    %xx = arith.bitcast %lowX : i32 to f32
    %yy = arith.bitcast %lowY : i32 to f32
    %weightedX = arith.mulf %dx, %weight : f32
    %weightedY = arith.mulf %dy, %weight : f32
    %nextXX = math.fma %weightedX, %dx, %xx : f32
    %nextYY = math.fma %weightedY, %dy, %yy : f32
    %wordX = arith.bitcast %nextXX : f32 to i32
    %wordY = arith.bitcast %nextYY : f32 to i32
    %halfX = arith.extui %wordX : i32 to i64
    %halfY = arith.extui %wordY : i32 to i64
    %upper = arith.shli %halfY, %bits : i64
    %both = arith.ori %halfX, %upper : i64

    %xy = arith.mulf %weightedX, %dy : f32
    %wideXY = arith.extf %xy : f32 to f64
    %newDot = arith.addf %dot, %wideXY : f64
    annudf.yield %newX, %newY, %both, %newDot : f64, f64, i64, f64
  }
  annudf.finalize (%sumX: f64, %sumY: f64, %squares: i64, %dot: f64) {
    %bits = arith.constant 32 : i64
    %lowX = arith.trunci %squares : i64 to i32
    %high = arith.shrui %squares, %bits : i64
    %lowY = arith.trunci %high : i64 to i32
    %xx = arith.bitcast %lowX : i32 to f32
    %yy = arith.bitcast %lowY : i32 to f32
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %nx = math.sqrt %xx : f32
    %ny = math.sqrt %yy : f32
    %norms = arith.mulf %nx, %ny : f32
    %sum = arith.truncf %dot : f64 to f32
    %ratio = arith.divf %sum, %norms : f32
    %none = arith.cmpf oeq, %norms, %zero : f32
    %correlation = arith.select %none, %zero, %ratio : f32
    %distance = arith.subf %one, %correlation : f32
    annudf.yield %distance : f32
  }
}
