// Minkowski distance: (sum |q - b|^p)^(1/p); p = 1 is l1, p = 2 euclidean, of 0 and less there is none: NaN. Lists are ranked by L2.
annudf.metric @minkowski order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
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
    %inverse = arith.divf %one, %order : f32
    %root = math.powf %acc, %inverse : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0x7FC00000 : f32
    %known = arith.cmpf ogt, %order, %zero : f32
    %distance = arith.select %known, %root, %none : f32
    annudf.yield %distance : f32
  }
}
