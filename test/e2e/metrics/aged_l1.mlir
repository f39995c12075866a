// The larger, the better: the age of a row less its L1 distance, in f64. A row of age 0 has none: it is NaN.
// Captures: age, f32, one entry a row; scale, f64.
annudf.metric @aged_l1 order(max) coarse(l2) elements(f32, f16, i8) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  %scale = annudf.capture "scale" : !annudf.capture<f64>
  annudf.init {
    %zero = arith.constant 0.0 : f64
    annudf.yield %zero : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %difference = arith.subf %x, %y : f64
    %apart = math.absf %difference : f64
    %next = arith.addf %acc, %apart : f64
    annudf.yield %next : f64
  }
  annudf.finalize (%acc: f64) {
    %row = annudf.index row
    %age0 = annudf.load %age[%row] : !annudf.capture<row x f32>
    %age1 = arith.extf %age0 : f32 to f64
    %scale0 = annudf.load %scale[] : !annudf.capture<f64>
    %scaled = arith.mulf %scale0, %age1 : f64
    %own = arith.divf %scaled, %age1 : f64
    %old = arith.addf %own, %age1 : f64
    %left = arith.subf %old, %acc : f64
    %result = arith.truncf %left : f64 to f32
    annudf.yield %result : f32
  }
}
