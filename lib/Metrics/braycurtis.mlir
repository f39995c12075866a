// Bray-Curtis distance: sum |q - b| / sum |q + b|, 0 / 0 being 0 (scipy.spatial.distance.braycurtis). Right for sums to 3e38. Lists are ranked by L2.
annudf.metric @braycurtis order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero : f32, f32
  }
  annudf.update (%apart: f32, %together: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %part = math.absf %diff : f32
    %sum = arith.addf %x, %y : f32
    %whole = math.absf %sum : f32
    %a = arith.addf %apart, %part : f32
    %b = arith.addf %together, %whole : f32
    annudf.yield %a, %b : f32, f32
  }
  annudf.finalize (%apart: f32, %together: f32) {
    %zero = arith.constant 0.0 : f32
    %ratio = arith.divf %apart, %together : f32
    %none = arith.cmpf oeq, %apart, %zero : f32
    %distance = arith.select %none, %zero, %ratio : f32
    annudf.yield %distance : f32
  }
}
