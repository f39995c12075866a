// Euclidean distance of the dimensions that both vectors know, scaled to all: sqrt(dims / known * sum (q - b)^2). NaN is a value that is missing, and
// `missing_values` says that the metric knows it; where nothing is known of both the distance is NaN, and the row is not found.
annudf.metric @nan_euclidean order(min) coarse(l2) elements(f32, f16, bf16) missing_values {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero : f32, f32
  }
  annudf.update (%sum: f32, %known: f32, %x: f32, %y: f32) {
    %d = arith.subf %x, %y : f32
    %missing = math.isnan %d : f32
    %next = math.fma %d, %d, %sum : f32
    %one = arith.constant 1.0 : f32
    %more = arith.addf %known, %one : f32
    %s = arith.select %missing, %sum, %next : f32
    %n = arith.select %missing, %known, %more : f32
    annudf.yield %s, %n : f32, f32
  }
  annudf.finalize (%sum: f32, %known: f32) {
    %dims = annudf.index dims
    %all = arith.index_cast %dims : index to i32
    %whole = arith.sitofp %all : i32 to f32
    %mean = arith.divf %sum, %known : f32
    %scaled = arith.mulf %mean, %whole : f32
    %distance = math.sqrt %scaled : f32
    annudf.yield %distance : f32
  }
}
