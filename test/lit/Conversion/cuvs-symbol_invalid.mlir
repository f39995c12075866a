// RUN: annudf-opt %s --verify-diagnostics --annudf-lower-to-nvvm="target=rapids.cuvs.ivf_flat.metric.v1 symbol=annudf1_scan_contract"
// RUN: not annudf-opt %s --annudf-lower-to-nvvm="target=rapids.cuvs.ivf_flat.metric.v1 symbol=a-b" 2>&1 | FileCheck %s
// RUN: not annudf-opt %s --annudf-lower-to-nvvm="target=rapids.cuvs.ivf_flat.metric.v1 symbol=__nv_powf" 2>&1 | FileCheck %s --check-prefix=NV
// RUN: not annudf-opt %s --annudf-lower-to-llvm="target=annudf.pairwise.v2" 2>&1 | FileCheck %s --check-prefix=ABI
// CHECK: error: 'annudf.metric' op [R13] cannot become the function 'a-b'; use letters
// NV: error: 'annudf.metric' op [R13] cannot become the function '__nv_powf'; use letters
// ABI: error: 'builtin.module' op [T4] cannot be verified against 'annudf.pairwise.v2'; the ABIs known are: annudf.accumulator.v1, rapids.cuvs.ivf_flat.metric.v1

// expected-error @+1 {{'annudf.metric' op [R13] cannot become the function 'annudf1_scan_contract'; use letters, digits and _, not beginning with a digit, __, annudf1_, annudf2_, annudf_table_ or llvm}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
