annudf.metric @aged_twice order(min) coarse(l2) elements(f32) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  %bias = annudf.capture "bias" : !annudf.capture<row x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %t = arith.subf %x, %y : f32
    %r = math.fma %t, %t, %acc : f32
    annudf.yield %r : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %a = annudf.load %age[%row] : !annudf.capture<row x f32>
    %b = annudf.load %bias[%row] : !annudf.capture<row x f32>
    %s = arith.addf %a, %b : f32
    %r = arith.addf %acc, %s : f32
    annudf.yield %r : f32
  }
}
