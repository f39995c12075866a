// RUN: annudf-opt %s --annudf-lower-to-nvvm --split-input-file --verify-diagnostics
// RUN: sed 's/lower-to-nvvm/lower-to-llvm/' %s | annudf-opt --annudf-lower-to-llvm --split-input-file --verify-diagnostics

// More of what annudf-verify-abi keeps from a lowering.

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.finalize (%acc: f32) {
    // expected-error @below {{'annudf.index' op annudf-lower-to-nvvm: annudf.index dim has no meaning here}}
    %d = annudf.index dim
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @below {{'builtin.unrealized_conversion_cast' op annudf-lower-to-nvvm: has no lowering}}
    %0 = builtin.unrealized_conversion_cast %x : f32 to f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'annudf.metric' op annudf-lower-to-nvvm: binds 17 captures, the ABI has 16 slots}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %c0 = annudf.capture "c0" : !annudf.capture<f32>
  %c1 = annudf.capture "c1" : !annudf.capture<f32>
  %c2 = annudf.capture "c2" : !annudf.capture<f32>
  %c3 = annudf.capture "c3" : !annudf.capture<f32>
  %c4 = annudf.capture "c4" : !annudf.capture<f32>
  %c5 = annudf.capture "c5" : !annudf.capture<f32>
  %c6 = annudf.capture "c6" : !annudf.capture<f32>
  %c7 = annudf.capture "c7" : !annudf.capture<f32>
  %c8 = annudf.capture "c8" : !annudf.capture<f32>
  %c9 = annudf.capture "c9" : !annudf.capture<f32>
  %c10 = annudf.capture "c10" : !annudf.capture<f32>
  %c11 = annudf.capture "c11" : !annudf.capture<f32>
  %c12 = annudf.capture "c12" : !annudf.capture<f32>
  %c13 = annudf.capture "c13" : !annudf.capture<f32>
  %c14 = annudf.capture "c14" : !annudf.capture<f32>
  %c15 = annudf.capture "c15" : !annudf.capture<f32>
  %c16 = annudf.capture "c16" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
