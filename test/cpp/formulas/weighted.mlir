annudf.metric @weighted order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %weight = annudf.load %w[%dim] : !annudf.capture<dim x f32>
    %diff = arith.subf %x, %y : f32
    %scaled = arith.mulf %weight, %diff : f32
    %square = arith.mulf %scaled, %diff : f32
    %next = arith.addf %acc, %square : f32
    annudf.yield %next : f32
  }
}
