// The number of the query.
annudf.metric @numbered order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %query = annudf.index query
    %i = arith.index_cast %query : index to i32
    %r = arith.sitofp %i : i32 to f32
    annudf.yield %r : f32
  }
}
