annudf.extern @scaled convention(c) (f32, f32) -> f32
  link(ptx ".version 8.0\0A.target sm_90\0A.address_size 64\0A.visible .func (.param .b32 r) scaled(.param .b32 x, .param .b32 y) { .reg .f32 %f<4>; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y]; sub.f32 %f3, %f1, %f2; st.param.f32 [r], %f3; ret; }")
annudf.metric @linked order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
    %r = math.fma %d, %d, %acc : f32
    annudf.yield %r : f32
  }
}
