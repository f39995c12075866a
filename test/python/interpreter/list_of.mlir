// The number of a row's list, in place of its distance.
annudf.metric @list_of order(min) coarse(l2) elements(f32, u8) {
  annudf.init {
    %zero = arith.constant 0 : i32
    annudf.yield %zero : i32
  }
  annudf.update (%acc: i32, %x: f32, %y: f32) {
    annudf.yield %acc : i32
  }
  annudf.finalize (%acc: i32) {
    %list = annudf.index list
    %number = arith.index_cast %list : index to i32
    %distance = arith.sitofp %number : i32 to f32
    annudf.yield %distance : f32
  }
}
