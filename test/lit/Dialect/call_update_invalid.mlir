// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What annudf.call_update is refused for.

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U1] names @nobody, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_update @nobody(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func private @function()

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U1] names @function, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_update @function(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

annudf.filter @other {
  annudf.keep {
    %b = arith.constant true
    annudf.yield %b : i1
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U1] names @other, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_update @other(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U3] takes 'f32', 'f32', 'f32', 'f32' and gives 'f32', but annudf.update of @m takes 'f32', 'f32', 'f32' and yields 'f32'; call it as that}}
  %r = annudf.call_update @m(%a, %a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U3] takes 'f32', 'f32', 'f32' and gives 'f64', but annudf.update of @m takes 'f32', 'f32', 'f32' and yields 'f32'; call it as that}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f64
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U4] does not give dim, which annudf.update of @m reads; add dim to ctx}}
  %r = annudf.call_update @m(%a, %a, %a) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U6] passes another number of captures than 'm' binds, 0 instead of 3; pass w, s, t}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U6] passes another number of captures than 'm' binds, 1 instead of 3; pass w, s, t}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w : memref<?xf32>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U7] passes 'memref<?xf32>' for the scalar "s" of 'm'; pass 'f32'}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %w, %t : memref<?xf32>, memref<?xf32>, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [U8] passes 'f32' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%s, %s, %t : f32, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?x?xf32>) {
  // expected-error @below {{'annudf.call_update' op [U8] passes 'memref<?x?xf32>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%bad, %s, %t : memref<?x?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?xf64>) {
  // expected-error @below {{'annudf.call_update' op [U8] passes 'memref<?xf64>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%bad, %s, %t : memref<?xf64>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?xi1>) {
  // expected-error @below {{'annudf.call_update' op [U8] passes 'memref<?xi1>' for the array "t" of 'm', '!annudf.capture<16 x i1>'; pass memref<16xi8>}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %bad : memref<?xf32>, f32, memref<?xi1>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<7xf32>) {
  // expected-error @below {{'annudf.call_update' op [U9] passes 'memref<7xf32>' for the array "w" of 'm', whose extent dim has 8 entries; pass that many}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%bad, %s, %t : memref<7xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<15xi8>) {
  // expected-error @below {{'annudf.call_update' op [U9] passes 'memref<15xi8>' for the array "t" of 'm', whose extent 16 has 16 entries; pass that many}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %bad : memref<?xf32>, f32, memref<15xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<*xf32>) {
  // expected-error @below {{'annudf.call_update' op [U8] passes 'memref<*xf32>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%bad, %s, %t : memref<*xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{custom op 'annudf.call_update' unknown index 'lane' of ctx; write dim, dims, row, query or list}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i, lane = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{custom op 'annudf.call_update' ctx gives 'dim' twice; give it once}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i, dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [M15] carries attribute 'fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) {fast} : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op [M15] carries attribute 'annudf.fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_update @m(%a, %a, %a) ctx(dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) {annudf.fast} : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op requires attribute 'callee'}}
  %r = "annudf.call_update"() {operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>} : () -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %r = "annudf.call_update"(%a) <{callee = @m, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> : (f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %v = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %z = arith.mulf %x, %v : f32
    %r = arith.addf %acc, %z : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_update' op operand #0 must be index, but got 'f32'}}
  %r = "annudf.call_update"(%a) <{callee = @m, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0, 0>}> : (f32) -> f32
  return
}
