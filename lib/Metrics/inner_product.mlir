// Inner product, the largest first: sum q b. Right for lengths from 1e-18 to 1e19.
annudf.metric @inner_product order(max) coarse(inner_product) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %next = math.fma %x, %y, %acc : f32
    annudf.yield %next : f32
  }
}
