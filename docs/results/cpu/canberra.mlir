// Canberra distance: sum |q - b| / (|q| + |b|), a term 0 where both are 0. For cpu.py: what a
// division a coordinate costs beside L1.
annudf.metric @canberra order(min) coarse(l2) elements(f32, f16, bf16, i8, u8) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %diff = arith.subf %x, %y : f32
    %abs = math.absf %diff : f32
    %x_abs = math.absf %x : f32
    %y_abs = math.absf %y : f32
    %sum = arith.addf %x_abs, %y_abs : f32
    %some = arith.cmpf ogt, %sum, %zero : f32
    %divisor = arith.select %some, %sum, %one : f32
    %term = arith.divf %abs, %divisor : f32
    %next = arith.addf %acc, %term : f32
    annudf.yield %next : f32
  }
}
