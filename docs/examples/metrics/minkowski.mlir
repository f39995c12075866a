// Minkowski distance of order p: (sum |q - b|^p)^(1/p).
// Capture: p, an f32 number of at least 1. Powers are f32: the built-in minkowski (lib/Metrics) scales them, for any p and range.
annudf.metric @minkowski order(min) coarse(l2) elements(f32, f16, bf16, i8, u8) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %order = annudf.load %p[] : !annudf.capture<f32>
    %diff = arith.subf %x, %y : f32
    %abs = math.absf %diff : f32
    %power = math.powf %abs, %order : f32
    %next = arith.addf %acc, %power : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %order = annudf.load %p[] : !annudf.capture<f32>
    %one = arith.constant 1.0 : f32
    %root = arith.divf %one, %order : f32
    %distance = math.powf %acc, %root : f32
    annudf.yield %distance : f32
  }
}
