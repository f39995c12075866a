annudf.extern @scaled convention(c) (f32, f32) -> f32
  link(cuda_source "extern \22C\22 __device__ float scaled(float x, float y) { return 2 * (x - y); }")
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
