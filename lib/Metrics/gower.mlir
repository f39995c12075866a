// Gower's distance: the mean over dimensions of |q - b| / range, or of q != b where the range is 0, as of a category; of a range below 0: NaN. Lists are ranked by L2.
annudf.metric @gower order(min) coarse(l2) elements(f32, f16, bf16, i8, u8, bits) {
  %ranges = annudf.capture "ranges" : !annudf.capture<dim x f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %range = annudf.load %ranges[%dim] : !annudf.capture<dim x f32>
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %diff = arith.subf %x, %y : f32
    %apart = math.absf %diff : f32
    %ratio = arith.divf %apart, %range : f32
    %none = arith.constant 0x7FC00000 : f32
    %known = arith.cmpf ogt, %range, %zero : f32
    %share = arith.select %known, %ratio, %none : f32
    %differ = arith.cmpf une, %x, %y : f32
    %category = arith.select %differ, %one, %zero : f32
    %named = arith.cmpf oeq, %range, %zero : f32
    %term = arith.select %named, %category, %share : f32
    %next = arith.addf %acc, %term : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %dims = annudf.index dims
    %count = arith.index_cast %dims : index to i32
    %whole = arith.sitofp %count : i32 to f32
    %mean = arith.divf %acc, %whole : f32
    annudf.yield %mean : f32
  }
}
