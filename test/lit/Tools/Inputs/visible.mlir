annudf.filter @visible {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  %most = annudf.capture "most" : !annudf.capture<query x f32>
  annudf.keep {
    %row = annudf.index row
    %query = annudf.index query
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[%query] : !annudf.capture<query x f32>
    %b = arith.cmpf ole, %p, %m : f32
    annudf.yield %b : i1
  }
}
