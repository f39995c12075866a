annudf.filter @affordable {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  %most = annudf.capture "most" : !annudf.capture<f32>
  annudf.keep {
    %row = annudf.index row
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[] : !annudf.capture<f32>
    %cheap = arith.cmpf ole, %p, %m : f32
    %seven = arith.constant 7 : index
    %other = arith.cmpi ne, %row, %seven : index
    %kept = arith.andi %cheap, %other : i1
    annudf.yield %kept : i1
  }
}
