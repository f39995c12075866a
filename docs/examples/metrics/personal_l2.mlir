// Squared Euclidean distance with weights of each query: sum w[query] (q - b)^2.
// Capture: w, f32, one entry a query and dimension.
annudf.metric @personal_l2 order(min) coarse(l2) elements(f32, f16, bf16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %query = annudf.index query
    %dim = annudf.index dim
    %weight = annudf.load %w[%query, %dim] : !annudf.capture<query x dim x f32>
    %diff = arith.subf %x, %y : f32
    %square = arith.mulf %diff, %diff : f32
    %next = math.fma %weight, %square, %acc : f32
    annudf.yield %next : f32
  }
}
