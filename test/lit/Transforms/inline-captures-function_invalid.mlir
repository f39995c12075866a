// RUN: annudf-opt %s --annudf-inline-captures=dims=8 --verify-diagnostics

// expected-error @below {{'annudf.function' op [I14] is a function, which has no dimensions to specialise for; leave dims out}}
annudf.function @f convention(c) (f32) -> f32 {
  annudf.body (%a: f32) {
    annudf.yield %a : f32
  }
}
