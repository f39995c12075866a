// Code around a metric calls its hooks, and a kernel of exact search is written for it.
// RUN: dist-opt %s --convert-dist-to-annudf --convert-dist-kernels | FileCheck %s
// RUN: dist-opt %s --convert-dist-to-annudf --convert-dist-kernels --annudf-inline-hooks | FileCheck %s --check-prefix=INLINED
// RUN: dist-opt %s --convert-dist-to-annudf --annudf-build-kernel="kind=k-nearest k=3 element=f16" | FileCheck %s --check-prefix=BUILT

dist.weighted_sum @wl3 power 3 weights "w" order <min> root
dist.distance @between by @wl3

// CHECK: func.func @between(%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[W:.*]]: memref<?xf32>) -> f32 {
// CHECK: %[[INIT:.*]] = annudf.call_init @wl3() : () -> f32
// CHECK: scf.for %[[D:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %[[INIT]])
// CHECK: annudf.call_update @wl3(%[[ACC]], %{{.*}}, %{{.*}}) ctx(dim = %[[D]]) captures(%[[W]] : memref<?xf32>) : (f32, f32, f32) -> f32
// CHECK: annudf.call_finalize @wl3
// INLINED-NOT: annudf
// INLINED: func.func @between
// INLINED: math.fma
// INLINED-NOT: annudf
// BUILT: gpu.func @k_nearest(
