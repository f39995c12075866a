// Which rows a search may find, as a metric: 0 where price[row] <= most, NaN, which no search finds, elsewhere.
// annudf_ivf_flat_filter makes a filter of it. Captures: price, f32, one entry an id; most, a number.
annudf.metric @affordable order(min) coarse(l2) elements(f32, f16, bf16, i8, u8) {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  %most = annudf.capture "most" : !annudf.capture<f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[] : !annudf.capture<f32>
    %keep = arith.cmpf ole, %p, %m : f32
    %nan = arith.constant 0x7FC00000 : f32
    %distance = arith.select %keep, %acc, %nan : f32
    annudf.yield %distance : f32
  }
}
