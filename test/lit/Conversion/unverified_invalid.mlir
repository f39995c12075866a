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

// expected-error @below {{'annudf.metric' op annudf-lower-to-nvvm: binds 65 captures, the ABI has 64 slots}}
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
  %c17 = annudf.capture "c17" : !annudf.capture<f32>
  %c18 = annudf.capture "c18" : !annudf.capture<f32>
  %c19 = annudf.capture "c19" : !annudf.capture<f32>
  %c20 = annudf.capture "c20" : !annudf.capture<f32>
  %c21 = annudf.capture "c21" : !annudf.capture<f32>
  %c22 = annudf.capture "c22" : !annudf.capture<f32>
  %c23 = annudf.capture "c23" : !annudf.capture<f32>
  %c24 = annudf.capture "c24" : !annudf.capture<f32>
  %c25 = annudf.capture "c25" : !annudf.capture<f32>
  %c26 = annudf.capture "c26" : !annudf.capture<f32>
  %c27 = annudf.capture "c27" : !annudf.capture<f32>
  %c28 = annudf.capture "c28" : !annudf.capture<f32>
  %c29 = annudf.capture "c29" : !annudf.capture<f32>
  %c30 = annudf.capture "c30" : !annudf.capture<f32>
  %c31 = annudf.capture "c31" : !annudf.capture<f32>
  %c32 = annudf.capture "c32" : !annudf.capture<f32>
  %c33 = annudf.capture "c33" : !annudf.capture<f32>
  %c34 = annudf.capture "c34" : !annudf.capture<f32>
  %c35 = annudf.capture "c35" : !annudf.capture<f32>
  %c36 = annudf.capture "c36" : !annudf.capture<f32>
  %c37 = annudf.capture "c37" : !annudf.capture<f32>
  %c38 = annudf.capture "c38" : !annudf.capture<f32>
  %c39 = annudf.capture "c39" : !annudf.capture<f32>
  %c40 = annudf.capture "c40" : !annudf.capture<f32>
  %c41 = annudf.capture "c41" : !annudf.capture<f32>
  %c42 = annudf.capture "c42" : !annudf.capture<f32>
  %c43 = annudf.capture "c43" : !annudf.capture<f32>
  %c44 = annudf.capture "c44" : !annudf.capture<f32>
  %c45 = annudf.capture "c45" : !annudf.capture<f32>
  %c46 = annudf.capture "c46" : !annudf.capture<f32>
  %c47 = annudf.capture "c47" : !annudf.capture<f32>
  %c48 = annudf.capture "c48" : !annudf.capture<f32>
  %c49 = annudf.capture "c49" : !annudf.capture<f32>
  %c50 = annudf.capture "c50" : !annudf.capture<f32>
  %c51 = annudf.capture "c51" : !annudf.capture<f32>
  %c52 = annudf.capture "c52" : !annudf.capture<f32>
  %c53 = annudf.capture "c53" : !annudf.capture<f32>
  %c54 = annudf.capture "c54" : !annudf.capture<f32>
  %c55 = annudf.capture "c55" : !annudf.capture<f32>
  %c56 = annudf.capture "c56" : !annudf.capture<f32>
  %c57 = annudf.capture "c57" : !annudf.capture<f32>
  %c58 = annudf.capture "c58" : !annudf.capture<f32>
  %c59 = annudf.capture "c59" : !annudf.capture<f32>
  %c60 = annudf.capture "c60" : !annudf.capture<f32>
  %c61 = annudf.capture "c61" : !annudf.capture<f32>
  %c62 = annudf.capture "c62" : !annudf.capture<f32>
  %c63 = annudf.capture "c63" : !annudf.capture<f32>
  %c64 = annudf.capture "c64" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

func.func private @f(%a: f32) -> f32 {
  // expected-error @below {{'func.call' op annudf-lower-to-nvvm: closes a recursion through 'f', which cannot be inlined}}
  %0 = func.call @f(%a) : (f32) -> f32
  func.return %0 : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @below {{'func.func' op annudf-lower-to-nvvm: function 'f' has several blocks; write branches with scf.if and loops with scf.for}}
func.func private @f(%a: f32) -> f32 {
  cf.br ^next
^next:
  func.return %a : f32
}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}

// -----

func.func private @f0(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  func.return %0 : f32
}
func.func private @f1(%a: f32) -> f32 {
  %0 = func.call @f0(%a) : (f32) -> f32
  %1 = func.call @f0(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f2(%a: f32) -> f32 {
  %0 = func.call @f1(%a) : (f32) -> f32
  %1 = func.call @f1(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f3(%a: f32) -> f32 {
  %0 = func.call @f2(%a) : (f32) -> f32
  %1 = func.call @f2(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f4(%a: f32) -> f32 {
  %0 = func.call @f3(%a) : (f32) -> f32
  %1 = func.call @f3(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f5(%a: f32) -> f32 {
  %0 = func.call @f4(%a) : (f32) -> f32
  %1 = func.call @f4(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f6(%a: f32) -> f32 {
  %0 = func.call @f5(%a) : (f32) -> f32
  %1 = func.call @f5(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f7(%a: f32) -> f32 {
  %0 = func.call @f6(%a) : (f32) -> f32
  %1 = func.call @f6(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f8(%a: f32) -> f32 {
  %0 = func.call @f7(%a) : (f32) -> f32
  %1 = func.call @f7(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f9(%a: f32) -> f32 {
  %0 = func.call @f8(%a) : (f32) -> f32
  %1 = func.call @f8(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f10(%a: f32) -> f32 {
  %0 = func.call @f9(%a) : (f32) -> f32
  %1 = func.call @f9(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f11(%a: f32) -> f32 {
  %0 = func.call @f10(%a) : (f32) -> f32
  %1 = func.call @f10(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f12(%a: f32) -> f32 {
  %0 = func.call @f11(%a) : (f32) -> f32
  %1 = func.call @f11(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f13(%a: f32) -> f32 {
  %0 = func.call @f12(%a) : (f32) -> f32
  %1 = func.call @f12(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f14(%a: f32) -> f32 {
  %0 = func.call @f13(%a) : (f32) -> f32
  %1 = func.call @f13(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f15(%a: f32) -> f32 {
  %0 = func.call @f14(%a) : (f32) -> f32
  %1 = func.call @f14(%0) : (f32) -> f32
  func.return %1 : f32
}
func.func private @f16(%a: f32) -> f32 {
  %0 = func.call @f15(%a) : (f32) -> f32
  %1 = func.call @f15(%0) : (f32) -> f32
  func.return %1 : f32
}
// expected-error @below {{'annudf.metric' op annudf-lower-to-nvvm: has more than 65536 operations with its helpers inlined}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = func.call @f16(%x) : (f32) -> f32
    annudf.yield %0 : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    // expected-error @below {{'annudf.index' op annudf-lower-to-nvvm: annudf.index row has no meaning here}}
    %row = annudf.index row
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x query x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %dim = annudf.index dim
    %query = annudf.index query
    // expected-error @below {{'annudf.load' op annudf-lower-to-nvvm: extent query stands after another; annudf-verify-abi says what to do instead}}
    %v = annudf.load %w[%dim, %query] : !annudf.capture<dim x query x f32>
    annudf.yield %v : f32
  }
}
