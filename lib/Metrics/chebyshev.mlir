// Chebyshev distance: max |q - b|. Starts at -inf, the neutral element of max.
annudf.metric @chebyshev order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %lowest = arith.constant 0xFF800000 : f32
    annudf.yield %lowest : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %abs = math.absf %diff : f32
    %next = arith.maximumf %acc, %abs : f32
    annudf.yield %next : f32
  }
}
