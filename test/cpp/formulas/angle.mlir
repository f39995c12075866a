annudf.metric @angle order(min) coarse(cosine) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero : f32, f32, f32
  }
  annudf.update (%xy: f32, %xx: f32, %yy: f32, %x: f32, %y: f32) {
    %product = arith.mulf %x, %y : f32
    %nextXy = arith.addf %xy, %product : f32
    %ofQuery = arith.mulf %x, %x : f32
    %nextXx = arith.addf %xx, %ofQuery : f32
    %ofRow = arith.mulf %y, %y : f32
    %nextYy = arith.addf %yy, %ofRow : f32
    annudf.yield %nextXy, %nextXx, %nextYy : f32, f32, f32
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
