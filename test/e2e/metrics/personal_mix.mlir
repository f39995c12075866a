// Entries of every kind: sum w[query] v (q - b)^2 - a[query] q b, and its root where it has one.
// Captures: w, f32, one entry a query and dimension; v, f32, one a dimension; a, f32, one a query.
annudf.metric @personal_mix order(min) coarse(l2) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x f32>
  %v = annudf.capture "v" : !annudf.capture<dim x f32>
  %a = annudf.capture "a" : !annudf.capture<query x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %query = annudf.index query
    %dim = annudf.index dim
    %own = annudf.load %w[%query, %dim] : !annudf.capture<query x dim x f32>
    %all = annudf.load %v[%dim] : !annudf.capture<dim x f32>
    %share = annudf.load %a[%query] : !annudf.capture<query x f32>
    %weight = arith.mulf %own, %all : f32
    %difference = arith.subf %x, %y : f32
    %square = arith.mulf %difference, %difference : f32
    %apart = math.fma %weight, %square, %acc : f32
    %product = arith.mulf %x, %y : f32
    %together = arith.mulf %share, %product : f32
    %next = arith.subf %apart, %together : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%end: f32) {
    %root = math.sqrt %end : f32
    annudf.yield %root : f32
  }
}
