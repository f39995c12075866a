// RUN: annudf-opt %filters/affordable.mlir --annudf-inline-captures="dims=4 values={most = 3.0 : f32}" --annudf-verify-abi | FileCheck %s

// CHECK: annudf.filter @affordable dims(4) {
// CHECK-NEXT: %[[PRICE:.*]] = annudf.capture "price" : !annudf.capture<row x f32>
// CHECK-NEXT: annudf.keep {
// CHECK: %[[MOST:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: arith.cmpf ole, %{{.*}}, %[[MOST]] : f32
