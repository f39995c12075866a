// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=target=annudf.pairwise.v2

// expected-error @below {{'builtin.module' op [T4] cannot be verified against 'annudf.pairwise.v2'; the ABIs known are: annudf.accumulator.v1, rapids.cuvs.ivf_flat.metric.v1}}
module {
  annudf.metric @m order(min) coarse(l2) elements(f32) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      annudf.yield %acc : f32
    }
  }
}
