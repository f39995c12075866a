// 1 - sum w q b / sqrt(sum w q^2 sum w b^2), for tests of normalised forms on a GPU.
// Capture: w, f32, one entry a dimension.
annudf.metric @weighted_cosine order(min) coarse(cosine) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero : f32, f32, f32
  }
  annudf.update (%xy: f32, %xx: f32, %yy: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %wx = arith.mulf %weight, %x : f32
    %wy = arith.mulf %weight, %y : f32
    %product = math.fma %wx, %y, %xy : f32
    %ofQuery = math.fma %wx, %x, %xx : f32
    %ofRow = math.fma %wy, %y, %yy : f32
    annudf.yield %product, %ofQuery, %ofRow : f32, f32, f32
  }
  annudf.finalize (%xy: f32, %xx: f32, %yy: f32) {
    %one = arith.constant 1.0 : f32
    %squares = arith.mulf %xx, %yy : f32
    %lengths = math.sqrt %squares : f32
    %similarity = arith.divf %xy, %lengths : f32
    %distance = arith.subf %one, %similarity : f32
    annudf.yield %distance : f32
  }
}
