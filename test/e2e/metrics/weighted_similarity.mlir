// The same similarity, of which the largest is best, and 0 of a vector of no length.
// Capture: w, f32, one entry a dimension.
annudf.metric @weighted_similarity order(max) coarse(cosine) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero : f32, f32, f32
  }
  annudf.update (%xx: f32, %xy: f32, %yy: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %wx = arith.mulf %weight, %x : f32
    %wy = arith.mulf %weight, %y : f32
    %product = math.fma %wx, %y, %xy : f32
    %ofQuery = math.fma %wx, %x, %xx : f32
    %ofRow = math.fma %wy, %y, %yy : f32
    annudf.yield %ofQuery, %product, %ofRow : f32, f32, f32
  }
  annudf.finalize (%xx: f32, %xy: f32, %yy: f32) {
    %zero = arith.constant 0.0 : f32
    %rootX = math.sqrt %xx : f32
    %rootY = math.sqrt %yy : f32
    %lengths = arith.mulf %rootX, %rootY : f32
    %none = arith.cmpf oeq, %lengths, %zero : f32
    %similarity = arith.divf %xy, %lengths : f32
    %result = arith.select %none, %zero, %similarity : f32
    annudf.yield %result : f32
  }
}
