// RUN: annudf-opt %s --split-input-file --verify-diagnostics

// What annudf.call_combine is refused for.

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U1] names @nobody, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_combine @nobody(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func private @function()

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U1] names @function, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_combine @function(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
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
  // expected-error @below {{'annudf.call_combine' op [U1] names @other, which is no annudf.metric of the module that the op stands in; declare it there}}
  %r = annudf.call_combine @other(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

annudf.metric @plain order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U2] calls annudf.combine of @plain, which has none; write the hook, or do without the call}}
  %r = annudf.call_combine @plain(%a, %a) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U3] takes 'f32', 'f32', 'f32' and gives 'f32', but annudf.combine of @m takes 'f32', 'f32' and yields 'f32'; call it as that}}
  %r = annudf.call_combine @m(%a, %a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U3] takes 'f32', 'f32' and gives 'f64', but annudf.combine of @m takes 'f32', 'f32' and yields 'f32'; call it as that}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f64
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U4] does not give row, which annudf.combine of @m reads; add row to ctx}}
  %r = annudf.call_combine @m(%a, %a) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U5] gives dim, which has no meaning in annudf.combine; leave it out of ctx}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i, dim = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U6] passes another number of captures than 'm' binds, 0 instead of 3; pass w, s, t}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U6] passes another number of captures than 'm' binds, 1 instead of 3; pass w, s, t}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w : memref<?xf32>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U7] passes 'memref<?xf32>' for the scalar "s" of 'm'; pass 'f32'}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %w, %t : memref<?xf32>, memref<?xf32>, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U8] passes 'f32' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%s, %s, %t : f32, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?x?xf32>) {
  // expected-error @below {{'annudf.call_combine' op [U8] passes 'memref<?x?xf32>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%bad, %s, %t : memref<?x?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?xf64>) {
  // expected-error @below {{'annudf.call_combine' op [U8] passes 'memref<?xf64>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%bad, %s, %t : memref<?xf64>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<?xi1>) {
  // expected-error @below {{'annudf.call_combine' op [U8] passes 'memref<?xi1>' for the array "t" of 'm', '!annudf.capture<16 x i1>'; pass memref<16xi8>}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %s, %bad : memref<?xf32>, f32, memref<?xi1>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<7xf32>) {
  // expected-error @below {{'annudf.call_combine' op [U9] passes 'memref<7xf32>' for the array "w" of 'm', whose extent dim has 8 entries; pass that many}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%bad, %s, %t : memref<7xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<15xi8>) {
  // expected-error @below {{'annudf.call_combine' op [U9] passes 'memref<15xi8>' for the array "t" of 'm', whose extent 16 has 16 entries; pass that many}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %s, %bad : memref<?xf32>, f32, memref<15xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>, %bad: memref<*xf32>) {
  // expected-error @below {{'annudf.call_combine' op [U8] passes 'memref<*xf32>' for the array "w" of 'm', '!annudf.capture<dim x f32>'; pass memref<?xf32>}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%bad, %s, %t : memref<*xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{custom op 'annudf.call_combine' unknown index 'lane' of ctx; write dim, dims, row, query or list}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i, lane = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{custom op 'annudf.call_combine' ctx gives 'row' twice; give it once}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i, row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [M15] carries attribute 'fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) {fast} : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op [M15] carries attribute 'annudf.fast', which annudf.accumulator.v1 1.0 does not know; drop it, or use the version that wrote it}}
  %r = annudf.call_combine @m(%a, %a) ctx(row = %i) captures(%w, %s, %t : memref<?xf32>, f32, memref<?xi8>) {annudf.fast} : (f32, f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op requires attribute 'callee'}}
  %r = "annudf.call_combine"() {operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>} : () -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %r = "annudf.call_combine"(%a) <{callee = @m, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> : (f32) -> f32
  return
}

// -----

annudf.metric @m order(min) coarse(l2) elements(f32) numerics(reassociate) dims(8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %s = annudf.capture "s" : !annudf.capture<f32>
  %t = annudf.capture "t" : !annudf.capture<16 x i1>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
  annudf.combine (%acc: f32, %other: f32) {
    %row = annudf.index row
    %v = annudf.load %s[] : !annudf.capture<f32>
    %r = arith.addf %acc, %other : f32
    annudf.yield %r : f32
  }
}

func.func @kernel(%a: f32, %i: index, %w: memref<?xf32>, %s: f32, %t: memref<?xi8>) {
  // expected-error @below {{'annudf.call_combine' op operand #0 must be index, but got 'f32'}}
  %r = "annudf.call_combine"(%a) <{callee = @m, operandSegmentSizes = array<i32: 0, 0, 1, 0, 0, 0, 0>}> : (f32) -> f32
  return
}
