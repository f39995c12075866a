// RUN: annudf-opt %s --annudf-lower-to-nvvm --split-input-file --verify-diagnostics
// RUN: annudf-opt %s --inline --annudf-lower-to-nvvm --split-input-file --verify-diagnostics
// RUN: sed 's/lower-to-nvvm/lower-to-llvm/' %s | annudf-opt --annudf-lower-to-llvm --split-input-file --verify-diagnostics
// RUN: annudf-opt %s --annudf-lower-to-nvvm=target=rapids.cuvs.ivf_flat.metric.v1 --split-input-file --verify-diagnostics

// A load of what is no annudf.capture: where its value lies nobody knows.

// What a frontend emits, lowered without the pass that reads it.
func.func private @weighted_update(%x: f32, %acc: f32, %ctx: none) -> f32 {
  %weights = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<dim x f32> {annudf.capture = "weights"}
  %dim = annudf.index dim
  // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: reads a capture of the frontend form, which is none of the metric's yet; run annudf-import-frontend first}}
  %w = annudf.load %weights[%dim] : !annudf.capture<dim x f32>
  %t = arith.mulf %w, %x : f32
  %r = arith.addf %acc, %t : f32
  return %r : f32
}
annudf.metric @weighted order(min) coarse(l2) elements(f32) {
  %weights = annudf.capture "weights" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @weighted_update(%x, %acc, %ctx) : (f32, f32, none) -> f32
    annudf.yield %r : f32
  }
}

// -----

func.func private @either(%which: i1, %a: !annudf.capture<dim x f32>, %b: !annudf.capture<dim x f32>) -> f32 {
  %dim = annudf.index dim
  %c = arith.select %which, %a, %b : !annudf.capture<dim x f32>
  // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: reads what 'arith.select' gives, which is no annudf.capture; annudf-verify-abi says what to do instead}}
  %w = annudf.load %c[%dim] : !annudf.capture<dim x f32>
  return %w : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %v = annudf.capture "v" : !annudf.capture<dim x f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %which = arith.cmpf ogt, %x, %y : f32
    %c = func.call @either(%which, %v, %w) : (i1, !annudf.capture<dim x f32>, !annudf.capture<dim x f32>) -> f32
    annudf.yield %c : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %dim = annudf.index dim
    %sum, %last = scf.for %i = %zero to %four step %one iter_args(%s = %acc, %c = %w) -> (f32, !annudf.capture<dim x f32>) {
      // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: reads an argument, which is no annudf.capture; annudf-verify-abi says what to do instead}}
      %e = annudf.load %c[%dim] : !annudf.capture<dim x f32>
      %t = arith.addf %s, %e : f32
      scf.yield %t, %c : f32, !annudf.capture<dim x f32>
    }
    annudf.yield %sum : f32
  }
}
