// Squared Euclidean distance, doubled for every half-life of a row's age: sum (q - b)^2 * 2^(age / half_life).
// Captures: age, f32, one entry an id; half_life, a number.
annudf.metric @time_decay order(min) coarse(l2) elements(f32, f16, bf16, i8, u8) {
  %age = annudf.capture "age" : !annudf.capture<row x f32>
  %half_life = annudf.capture "half_life" : !annudf.capture<f32>
  annudf.init {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %diff = arith.subf %x, %y : f32
    %next = math.fma %diff, %diff, %acc : f32
    annudf.yield %next : f32
  }
  annudf.finalize (%acc: f32) {
    %row = annudf.index row
    %years = annudf.load %age[%row] : !annudf.capture<row x f32>
    %h = annudf.load %half_life[] : !annudf.capture<f32>
    %halves = arith.divf %years, %h : f32
    %growth = math.exp2 %halves : f32
    %distance = arith.mulf %acc, %growth : f32
    annudf.yield %distance : f32
  }
}
