annudf.pairwise @plain order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %d = scf.for %i = %begin to %dims step %step iter_args(%a = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %u = arith.subf %xi, %yi : f32
      %w = math.fma %u, %u, %a : f32
      scf.yield %w : f32
    }
    annudf.yield %d : f32
  }
}
annudf.pairwise @keeps order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = annudf.scratch fill(%zero) : !annudf.scratch<4 x f32>
    %v = annudf.get %s[%begin] : !annudf.scratch<4 x f32>
    annudf.yield %v : f32
  }
}
annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }")
annudf.pairwise @linked order(min) coarse(l2) elements(f32) numerics(reassociate) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = annudf.scratch fill(%zero) : !annudf.scratch<4 x f32>
    %v = annudf.get %s[%begin] : !annudf.scratch<4 x f32>
    %w = annudf.call @scaled(%v, %v) : (f32, f32) -> f32
    annudf.yield %w : f32
  }
}
annudf.pairwise @mirrored order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %last = arith.subi %dims, %step : index
    %zero = arith.constant 0.0 : f32
    %g = scf.for %i = %begin to %dims step %step iter_args(%a = %zero) -> (f32) {
      %j = arith.subi %last, %i : index
      %u = annudf.at %x[%i] : !annudf.vector<f32>
      %v = annudf.at %x[%j] : !annudf.vector<f32>
      %w = math.fma %u, %v, %a : f32
      scf.yield %w : f32
    }
    %d = scf.for %i = %begin to %dims step %step iter_args(%a = %zero) -> (f32) {
      %u = annudf.at %x[%i] : !annudf.vector<f32>
      %v = annudf.at %y[%i] : !annudf.vector<f32>
      %e = arith.subf %u, %v : f32
      %f = math.absf %e : f32
      %w = math.fma %f, %g, %a : f32
      scf.yield %w : f32
    }
    annudf.yield %d : f32
  }
}
