// Great-circle distance on the unit sphere of (latitude, longitude) in radians: 2 asin(sqrt(sin^2(dlat / 2) + cos(lat) cos(lat) sin^2(dlon / 2)))
// (sklearn.metrics.pairwise.haversine_distances). Right to 2e-5, and to 1e-3 within 0.01 of opposite points. Lists are ranked by L2.
annudf.metric @haversine order(min) coarse(l2) elements(f32, f16, bf16) dims(2) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero : f32, f32
  }
  annudf.update (%chord: f32, %cosines: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %first = arith.constant 0 : index
    %isLatitude = arith.cmpi eq, %dim, %first : index
    %half = arith.constant 0.5 : f32
    %diff = arith.subf %x, %y : f32
    %angle = arith.mulf %diff, %half : f32
    %sin = math.sin %angle : f32
    %square = arith.mulf %sin, %sin : f32
    %cx = math.cos %x : f32
    %cy = math.cos %y : f32
    %product = arith.mulf %cx, %cy : f32
    %scaled = math.fma %cosines, %square, %chord : f32
    %c = arith.select %isLatitude, %square, %scaled : f32
    %p = arith.select %isLatitude, %product, %cosines : f32
    annudf.yield %c, %p : f32, f32
  }
  annudf.finalize (%chord: f32, %cosines: f32) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    // Of opposite points the sum may round to more than 1.
    %least = arith.maximumf %chord, %zero : f32
    %most = arith.minimumf %least, %one : f32
    %root = math.sqrt %most : f32
    %half = math.asin %root : f32
    %distance = arith.mulf %half, %two : f32
    annudf.yield %distance : f32
  }
}
