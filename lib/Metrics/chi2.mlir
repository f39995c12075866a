// Chi-squared distance of histograms: sum (q - b)^2 / (q + b), terms of 0 / 0 being 0 (sklearn.metrics.pairwise.additive_chi2_kernel,
// its sign turned). Coordinates are 0 or above, and q + b at most 3e38. Lists are ranked by L2.
annudf.metric @chi2 order(min) coarse(l2) elements(f32, f16, bf16, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %whole = arith.addf %x, %y : f32
    // Not as a square, which f32 holds from 1e-18 to 1e19 only.
    %part = arith.divf %diff, %whole : f32
    %ratio = arith.mulf %part, %diff : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.cmpf oeq, %whole, %zero : f32
    %term = arith.select %none, %zero, %ratio : f32
    // A negative coordinate is none of a histogram: NaN.
    %least = arith.minimumf %x, %y : f32
    %outside = arith.cmpf olt, %least, %zero : f32
    %nan = arith.constant 0x7FC00000 : f32
    %checked = arith.select %outside, %nan, %term : f32
    %next = arith.addf %acc, %checked : f32
    annudf.yield %next : f32
  }
}
