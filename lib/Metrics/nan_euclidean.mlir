// Euclidean distance of what both vectors know, scaled to all dimensions: sqrt(dims / known * sum (q - b)^2), NaN being a value that is not known
// (sklearn.metrics.pairwise.nan_euclidean_distances). NaN where nothing is known of both: such a row is not found. Squares are f32: right for vectors
// 1e-18 to 1e19 apart.
annudf.metric @nan_euclidean order(min) coarse(l2) elements(f32, f16, bf16) missing_values {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    annudf.yield %zero, %none : f32, i32
  }
  annudf.update (%sum: f32, %known: i32, %x: f32, %y: f32) {
    %missing = arith.cmpf uno, %x, %y : f32
    %zero = arith.constant 0.0 : f32
    %diff = arith.subf %x, %y : f32
    %part = arith.select %missing, %zero, %diff : f32
    %next = math.fma %part, %part, %sum : f32
    %one = arith.constant 1 : i32
    %more = arith.addi %known, %one : i32
    %count = arith.select %missing, %known, %more : i32
    annudf.yield %next, %count : f32, i32
  }
  annudf.finalize (%sum: f32, %known: i32) {
    %dims = annudf.index dims
    %all = arith.index_cast %dims : index to i32
    %whole = arith.sitofp %all : i32 to f32
    %part = arith.sitofp %known : i32 to f32
    // 0 / 0, where nothing is known, is NaN.
    %mean = arith.divf %sum, %part : f32
    %scaled = arith.mulf %mean, %whole : f32
    %distance = math.sqrt %scaled : f32
    annudf.yield %distance : f32
  }
}
