// Each rule R: what a metric needs and rapids.cuvs.ivf_flat.metric.v1 has no place for.
// RUN: annudf-opt %s --split-input-file --verify-diagnostics --annudf-verify-abi=target=rapids.cuvs.ivf_flat.metric.v1

// expected-error @+1 {{'annudf.filter' op [R1] is a filter, and rapids.cuvs.ivf_flat.metric.v1 has none; compile it for annudf.accumulator.v1}}
annudf.filter @even {
  annudf.keep {
    %0 = arith.constant true
    annudf.yield %0 : i1
  }
}

// -----

// expected-error @+1 {{'annudf.metric' op [R2] keeps an accumulator of f32, f32, and rapids.cuvs.ivf_flat.metric.v1 has one f32; keep one}}
annudf.metric @fields order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0, %0 : f32, f32
  }
  annudf.update (%a: f32, %b: f32, %x: f32, %y: f32) {
    %0 = math.fma %x, %y, %a : f32
    %1 = math.fma %x, %x, %b : f32
    annudf.yield %0, %1 : f32, f32
  }
  // expected-error @+1 {{'annudf.finalize' op [R9] has no place in rapids.cuvs.ivf_flat.metric.v1, where the accumulator is the distance; drop annudf.finalize}}
  annudf.finalize (%a: f32, %b: f32) {
    %0 = arith.divf %a, %b : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @+3 {{'annudf.metric' op [R2] keeps an accumulator of i32, and rapids.cuvs.ivf_flat.metric.v1 has one f32; keep one}}
// expected-error @+2 {{'annudf.metric' op [R3] takes coordinates as i32, and rapids.cuvs.ivf_flat.metric.v1 hands over f32; take them as f32}}
// expected-error @+1 {{'annudf.metric' op [R4] does not accept element type f32, the only one that rapids.cuvs.ivf_flat.metric.v1 is defined for; list it}}
annudf.metric @whole order(min) coarse(l2) elements(i8) {
  // expected-error @+1 {{'annudf.init' op [R8] yields another value than the constant 0.0, with which rapids.cuvs.ivf_flat.metric.v1 begins every row; yield 0.0}}
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    %0 = arith.subi %x, %y : i32
    %1 = arith.addi %acc, %0 : i32
    annudf.yield %1 : i32
  }
}

// -----

// expected-error @+3 {{'annudf.metric' op [R5] ranks by order(max), and with rapids.cuvs.ivf_flat.metric.v1 the smallest distance is best; negate the distance and write order(min)}}
// expected-error @+2 {{'annudf.metric' op [R6] ranks lists by coarse(inner_product max), and with rapids.cuvs.ivf_flat.metric.v1 they are ranked by l2, nearest first; write coarse(l2)}}
// expected-error @+1 {{'annudf.metric' op [R7] takes missing values, which rapids.cuvs.ivf_flat.metric.v1 does not support; drop missing_values}}
annudf.metric @dot order(max) coarse(inner_product) elements(f32) missing_values {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = math.fma %x, %y, %acc : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @+1 {{'annudf.metric' op [R6] ranks lists by coarse(l2 max), and with rapids.cuvs.ivf_flat.metric.v1 they are ranked by l2, nearest first; write coarse(l2)}}
annudf.metric @farthest order(min) coarse(l2 max) elements(f32) {
  // expected-error @+1 {{'annudf.init' op [R8] yields another value than the constant 0.0, with which rapids.cuvs.ivf_flat.metric.v1 begins every row; yield 0.0}}
  annudf.init {
    %0 = arith.constant -0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %0 = math.fma %x, %y, %acc : f32
    annudf.yield %0 : f32
  }
}

// -----

// expected-error @+1 {{'annudf.metric' op [R10] binds 5 captures, and rapids.cuvs.ivf_flat.metric.v1 has one; bake the others in with annudf-inline-captures}}
annudf.metric @captures order(min) coarse(l2) elements(f32) {
  // expected-error @+1 {{'annudf.capture' op [R11] is '!annudf.capture<f32>', and rapids.cuvs.ivf_flat.metric.v1 has !annudf.capture<dim x f32>; bake it in with annudf-inline-captures, or bind an f32 for each dimension}}
  %p = annudf.capture "p" : !annudf.capture<f32>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  // expected-error @+1 {{'annudf.capture' op [R11] is '!annudf.capture<dim x f16>', and rapids.cuvs.ivf_flat.metric.v1 has !annudf.capture<dim x f32>; bake it in with annudf-inline-captures, or bind an f32 for each dimension}}
  %h = annudf.capture "h" : !annudf.capture<dim x f16>
  // expected-error @+1 {{'annudf.capture' op [R11] is '!annudf.capture<row x f32>', and rapids.cuvs.ivf_flat.metric.v1 has !annudf.capture<dim x f32>; bake it in with annudf-inline-captures, or bind an f32 for each dimension}}
  %r = annudf.capture "r" : !annudf.capture<row x f32>
  // expected-error @+1 {{'annudf.capture' op [R11] is '!annudf.capture<16 x f32>', and rapids.cuvs.ivf_flat.metric.v1 has !annudf.capture<dim x f32>; bake it in with annudf-inline-captures, or bind an f32 for each dimension}}
  %t = annudf.capture "t" : !annudf.capture<16 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @+1 {{'annudf.index' op [R12] reads row, but rapids.cuvs.ivf_flat.metric.v1 hands over only dim, and only beside a capture; bind a capture for dim, fix dims with annudf-inline-captures, or drop the read}}
    %0 = annudf.index row
    %1 = annudf.load %r[%0] : !annudf.capture<row x f32>
    %2 = arith.addf %acc, %1 : f32
    annudf.yield %2 : f32
  }
}

// -----

annudf.metric @places order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    // expected-error @+1 {{'annudf.index' op [R12] reads dim, but rapids.cuvs.ivf_flat.metric.v1 hands over only dim, and only beside a capture; bind a capture for dim, fix dims with annudf-inline-captures, or drop the read}}
    %0 = annudf.index dim
    // expected-error @+1 {{'annudf.index' op [R12] reads dims, but rapids.cuvs.ivf_flat.metric.v1 hands over only dim, and only beside a capture; bind a capture for dim, fix dims with annudf-inline-captures, or drop the read}}
    %1 = annudf.index dims
    %2 = arith.subi %1, %0 : index
    %3 = arith.index_cast %2 : index to i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.addf %acc, %4 : f32
    annudf.yield %5 : f32
  }
}

// -----

// expected-error @below {{'annudf.function' op [R14] is a function, and rapids.cuvs.ivf_flat.metric.v1 is for metrics only; leave the target ABI out}}
annudf.function @f convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}

// -----

annudf.extern @f convention(c) (f32, f32) -> f32 link(cuda_source "x")
// expected-error @below {{'annudf.metric' op [R15] is in a module with linked code, which rapids.cuvs.ivf_flat.metric.v1 cannot hold; drop annudf.extern}}
annudf.metric @m order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = annudf.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}
