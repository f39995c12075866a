// Cosine distance: 1 - sum q b / sqrt(sum q^2 sum b^2). Three sums, kept in three fields of the accumulator.
annudf.metric @cosine order(min) coarse(cosine) elements(f32, f16, bf16, i8, u8) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero : f32, f32, f32
  }
  annudf.update (%xy: f32, %xx: f32, %yy: f32, %x: f32, %y: f32) {
    %product = math.fma %x, %y, %xy : f32
    %ofQuery = math.fma %x, %x, %xx : f32
    %ofRow = math.fma %y, %y, %yy : f32
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
