// Euclidean distance: sqrt(sum (q - b)^2). Squares are f32: right for vectors 1e-18 to 1e19 apart.
annudf.metric @euclidean order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %next = math.fma %diff, %diff, %acc : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %root = math.sqrt %acc : f32
    annudf.yield %root : f32
  }
}
