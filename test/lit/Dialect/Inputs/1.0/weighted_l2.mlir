module {
  annudf.metric @weighted_l2 order(min) coarse(l2) elements(f32, f16, i8, u8) {
    %0 = annudf.capture "w" : !annudf.capture<dim x f32>
    annudf.init {
      %cst = arith.constant 0.000000e+00 : f32
      annudf.yield %cst : f32
    }
    annudf.update (%arg0: f32, %arg1: f32, %arg2: f32) {
      %dim = annudf.index dim
      %1 = annudf.load %0[%dim] : !annudf.capture<dim x f32>
      %2 = arith.subf %arg1, %arg2 : f32
      %3 = arith.mulf %2, %2 : f32
      %4 = math.fma %1, %3, %arg0 : f32
      annudf.yield %4 : f32
    }
  }
}

