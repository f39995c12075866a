// Cosine distance: 1 - q.b / (|q| |b|) (scipy.spatial.distance.cosine); 1 where one of them is zero, as in scikit-learn. Squares are f32: right for lengths from 1e-18 to 1e19.
annudf.metric @cosine order(min) coarse(cosine) elements(f32, f16, bf16, i8, u8, bits) {
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
  annudf.finalize (%dot: f32, %xx: f32, %yy: f32) {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %nx = math.sqrt %xx : f32
    %ny = math.sqrt %yy : f32
    %norms = arith.mulf %nx, %ny : f32
    %ratio = arith.divf %dot, %norms : f32
    %none = arith.cmpf oeq, %norms, %zero : f32
    %similarity = arith.select %none, %zero, %ratio : f32
    %distance = arith.subf %one, %similarity : f32
    annudf.yield %distance : f32
  }
}
