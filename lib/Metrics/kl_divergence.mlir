// Kullback-Leibler divergence of the row from the query: sum q log(q / b), terms with q = 0 being 0 (scipy.stats.entropy(q, b)).
// Coordinates are 0 or above and sum to 1; of a row those below 1e-38 count as 0. Lists are ranked by L2.
annudf.metric @kl_divergence order(min) coarse(l2) elements(f32, f16, bf16) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ratio = arith.divf %x, %y : f32
    %log = math.log %ratio : f32
    %product = arith.mulf %x, %log : f32
    %zero = arith.constant 0.0 : f32
    %some = arith.cmpf ogt, %x, %zero : f32
    %term = arith.select %some, %product, %zero : f32
    // A negative coordinate is none of a distribution: NaN.
    %least = arith.minimumf %x, %y : f32
    %none = arith.cmpf olt, %least, %zero : f32
    %nan = arith.constant 0x7FC00000 : f32
    %checked = arith.select %none, %nan, %term : f32
    %next = arith.addf %acc, %checked : f32
    annudf.yield %next : f32
  }
}
