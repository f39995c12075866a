// Which rows a search may find: those with price[row] <= most.
// For annudf search --filter and annudf_ivf_flat_filter. Captures: price, f32, one entry an id; most, a number.
annudf.filter @affordable {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  %most = annudf.capture "most" : !annudf.capture<f32>
  annudf.keep {
    %row = annudf.index row
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[] : !annudf.capture<f32>
    %kept = arith.cmpf ole, %p, %m : f32
    annudf.yield %kept : i1
  }
}
