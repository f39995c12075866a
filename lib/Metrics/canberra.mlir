// Canberra distance: sum |q - b| / (|q| + |b|), terms of 0 / 0 being 0 (scipy.spatial.distance.canberra). Right for |q| + |b| to 3e38. Lists are ranked by L2.
annudf.metric @canberra order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %part = math.absf %diff : f32
    %ax = math.absf %x : f32
    %ay = math.absf %y : f32
    %whole = arith.addf %ax, %ay : f32
    %ratio = arith.divf %part, %whole : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.cmpf oeq, %whole, %zero : f32
    %term = arith.select %none, %zero, %ratio : f32
    %next = arith.addf %acc, %term : f32
    annudf.yield %next : f32
  }
}
