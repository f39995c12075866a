// RUN: dist-opt %s --convert-dist-to-annudf | FileCheck %s
// RUN: dist-opt %s --convert-dist-to-annudf --annudf-verify-abi --mlir-print-op-generic -o /dev/null
// RUN: dist-opt %s --pass-pipeline='builtin.module(convert-dist-to-annudf,annudf-to-host{metric=wl3})' | FileCheck %s --check-prefix=HOST

dist.weighted_sum @wl3 power 3 weights "w" order <min> root
dist.at_most @cheap "price" 20.0
dist.similarity @similarity 0.5

// CHECK: annudf.metric @wl3 order(min) coarse(l2) elements(f32, f16, i8, u8) {
// CHECK-NEXT: %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
// CHECK: annudf.init
// CHECK: annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[Y]]
// CHECK-NEXT: %[[A:.*]] = math.absf %[[D]]
// CHECK: math.powf %[[A]]
// CHECK: annudf.load %[[W]]
// CHECK: annudf.finalize
// CHECK: annudf.filter @cheap
// CHECK: annudf.capture "price" : !annudf.capture<row x f32>
// CHECK: arith.cmpf ole
// CHECK: annudf.function @similarity convention(c) (f32) -> f32 {
// CHECK-NEXT: annudf.body (%[[X:.*]]: f32)
// CHECK: math.fma %{{.*}}, %[[X]]
// CHECK: arith.divf
// CHECK-NOT: dist.
// HOST: llvm.func @annudf1_scan_update_a32_x32
