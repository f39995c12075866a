// One less Pearson's correlation, of five sums as they are written down first: far from 0 their digits cancel.
annudf.metric @pearson order(min) coarse(l2) elements(f32, f16, i8, u8) {
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero, %zero, %zero, %zero, %zero : f32, f32, f32, f32, f32
  }
  annudf.update (%sx: f32, %sy: f32, %xx: f32, %yy: f32, %xy: f32, %x: f32, %y: f32) {
    %ofX = arith.addf %sx, %x : f32
    %ofY = arith.addf %sy, %y : f32
    %squareX = math.fma %x, %x, %xx : f32
    %squareY = math.fma %y, %y, %yy : f32
    %product = math.fma %x, %y, %xy : f32
    annudf.yield %ofX, %ofY, %squareX, %squareY, %product : f32, f32, f32, f32, f32
  }
  annudf.finalize (%sx: f32, %sy: f32, %xx: f32, %yy: f32, %xy: f32) {
    %dims = annudf.index dims
    %whole = arith.index_cast %dims : index to i32
    %n = arith.sitofp %whole : i32 to f32
    %bothXY = arith.mulf %sx, %sy : f32
    %bothXX = arith.mulf %sx, %sx : f32
    %bothYY = arith.mulf %sy, %sy : f32
    %meanXY = arith.divf %bothXY, %n : f32
    %meanXX = arith.divf %bothXX, %n : f32
    %meanYY = arith.divf %bothYY, %n : f32
    %p = arith.subf %xy, %meanXY : f32
    %varX = arith.subf %xx, %meanXX : f32
    %varY = arith.subf %yy, %meanYY : f32
    %both = arith.mulf %varX, %varY : f32
    %root = math.sqrt %both : f32
    %ratio = arith.divf %p, %root : f32
    %one = arith.constant 1.0 : f32
    %distance = arith.subf %one, %ratio : f32
    annudf.yield %distance : f32
  }
}
