// RUN: annudf-opt %s --verify-diagnostics --annudf-verify-abi=target=rapids.cuvs.ivf_flat.metric.v1

// expected-error @below {{'annudf.pairwise' op [R16] is a distance of whole vectors, and rapids.cuvs.ivf_flat.metric.v1 sees one coordinate at a time; write one pass over the coordinates}}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0.0 : f32
    annudf.yield %zero : f32
  }
}
