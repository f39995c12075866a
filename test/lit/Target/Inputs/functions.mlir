annudf.function @narrow convention(c) (ui8, i8, i1) -> i16 {
  annudf.body (%a: i8, %b: i8, %c: i1) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.extsi %b : i8 to i16
    %2 = arith.select %c, %0, %1 : i16
    annudf.yield %2 : i16
  }
}
annudf.function @looked convention(raw) (ui8) -> f32 {
  %t = annudf.capture "t" : !annudf.capture<256 x f32>
  annudf.body (%a: i8) {
    %i = arith.index_castui %a : i8 to index
    %r = annudf.load %t[%i] : !annudf.capture<256 x f32>
    annudf.yield %r : f32
  }
}
