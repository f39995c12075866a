// Standardised Euclidean distance: sqrt(sum (q - b)^2 / V), V the variance of each dimension (scipy.spatial.distance.seuclidean); of 0 and less: NaN.
// Squares are f32: right for vectors 1e-18 to 1e19 apart. Lists are ranked by L2.
annudf.metric @seuclidean order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  %V = annudf.capture "V" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %variance = annudf.load %V[%dim] : !annudf.capture<dim x f32>
    %diff = arith.subf %x, %y : f32
    %square = arith.mulf %diff, %diff : f32
    %ratio = arith.divf %square, %variance : f32
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0x7FC00000 : f32
    %known = arith.cmpf ogt, %variance, %zero : f32
    %term = arith.select %known, %ratio, %none : f32
    %next = arith.addf %acc, %term : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %root = math.sqrt %acc : f32
    annudf.yield %root : f32
  }
}
