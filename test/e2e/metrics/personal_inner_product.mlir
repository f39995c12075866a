// Inner product with weights of each query: sum w[query] q b, the largest is best.
// Capture: w, f32, one entry a query and dimension.
annudf.metric @personal_inner_product order(max) coarse(inner_product) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %query = annudf.index query
    %dim = annudf.index dim
    %weight = annudf.load %w[%query, %dim] : !annudf.capture<query x dim x f32>
    %wx = arith.mulf %weight, %x : f32
    %next = math.fma %wx, %y, %acc : f32
    annudf.yield %next : f32
  }
}
