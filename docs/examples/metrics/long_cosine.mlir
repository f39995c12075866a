// Cosine distance of long vectors: 1 - q.b / (|q| |b|). numerics(reassociate) lets a scan add up parts of the dimensions side by
// side, and annudf.combine joins their sums; without it annudf-infer-combine would write the same. On a GPU few queries are
// answered faster so; distances differ in the last digits from those of one sum.
annudf.metric @long_cosine order(min) coarse(cosine) elements(f32, f16, bf16, i8, u8) numerics(reassociate) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero : f32, f32, f32
  }
  annudf.update (%dot: f32, %xx: f32, %yy: f32, %x: f32, %y: f32) {
    %d = math.fma %x, %y, %dot : f32
    %p = math.fma %x, %x, %xx : f32
    %q = math.fma %y, %y, %yy : f32
    annudf.yield %d, %p, %q : f32, f32, f32
  }
  annudf.combine (%dot: f32, %xx: f32, %yy: f32, %dot2: f32, %xx2: f32, %yy2: f32) {
    %d = arith.addf %dot, %dot2 : f32
    %p = arith.addf %xx, %xx2 : f32
    %q = arith.addf %yy, %yy2 : f32
    annudf.yield %d, %p, %q : f32, f32, f32
  }
  annudf.finalize (%dot: f32, %xx: f32, %yy: f32) {
    %one = arith.constant 1.0 : f32
    %nx = math.sqrt %xx : f32
    %ny = math.sqrt %yy : f32
    %norms = arith.mulf %nx, %ny : f32
    %cosine = arith.divf %dot, %norms : f32
    %r = arith.subf %one, %cosine : f32
    annudf.yield %r : f32
  }
}
