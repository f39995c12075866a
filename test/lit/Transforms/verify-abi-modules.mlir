// Metrics beside code of other dialects, in modules that carry attributes, and what the passes do there.
// RUN: annudf-opt %s --allow-unregistered-dialect --annudf-verify-abi --annudf-infer-combine \
// RUN:   --annudf-pack-lanes --annudf-inline-captures="values={p = 3.0 : f32}" | FileCheck %s
// RUN: annudf-opt %s --allow-unregistered-dialect --annudf-infer-properties 2>&1 | FileCheck %s --check-prefix=PROPERTIES
// RUN: not annudf-opt %s --allow-unregistered-dialect --annudf-verify-abi=artifact 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: not annudf-opt %s --allow-unregistered-dialect --annudf-to-host=metric=weighted 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: not annudf-opt %s --allow-unregistered-dialect --annudf-lower-to-nvvm=metric=weighted 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: annudf-opt %s --allow-unregistered-dialect > %t.text
// RUN: annudf-opt %s --allow-unregistered-dialect --emit-bytecode | annudf-opt --allow-unregistered-dialect | diff %t.text -

// What an artifact holds is as strict as ever, and a lowering asks again.
// ARTIFACT: error: 'builtin.module' op [T1] carries attribute 'gpu.container_module'
// ARTIFACT: error: 'gpu.module' op [T2] cannot stand beside a metric
// ARTIFACT: error: 'llvm.func' op [T2] cannot stand beside a metric

// PROPERTIES: remark: [N4] field 0: adds w[dim] x^2

// CHECK: module attributes {dlti.dl_spec = 1 : i32, gpu.container_module, llvm.data_layout = "e"}
module attributes {gpu.container_module, llvm.data_layout = "e", dlti.dl_spec = 1 : i32} {
  // CHECK: gpu.module @kernels
  gpu.module @kernels {
    // Attributes of other dialects stay.
    // CHECK: annudf.metric @weighted
    // CHECK-SAME: attributes {frontend.source = "weighted.py"}
    // CHECK: annudf.update
    // CHECK-SAME: attributes {frontend.line = 7 : i64}
    // CHECK: arith.subf {{.*}} {frontend.line = 8 : i64}
    // CHECK: annudf.combine
    annudf.metric @weighted order(min) coarse(l2) elements(f32) numerics(reassociate) attributes {frontend.source = "weighted.py"} {
      %w = annudf.capture "w" : !annudf.capture<dim x f32>
      annudf.init {
        %0 = arith.constant 0.0 : f32
        annudf.yield %0 : f32
      }
      annudf.update (%acc: f32, %x: f32, %y: f32) attributes {frontend.line = 7 : i64} {
        %d = annudf.index dim
        %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
        %t = arith.subf %x, %y {frontend.line = 8 : i64} : f32
        %t2 = func.call @square(%t) : (f32) -> f32
        %r = math.fma %wd, %t2, %acc : f32
        annudf.yield %r : f32
      }
    }
    func.func private @square(%t: f32) -> f32 attributes {frontend.line = 1 : i64} {
      %r = arith.mulf %t, %t : f32
      return %r : f32
    }

    // CHECK: gpu.func @kernel
    gpu.func @kernel(%out: memref<?xf32>) kernel {
      gpu.return
    }
  }

  // CHECK: annudf.filter @cheap
  // CHECK-NOT: annudf.capture "p"
  // CHECK: arith.constant 3.000000e+00 : f32
  annudf.filter @cheap {
    %price = annudf.capture "price" : !annudf.capture<row x f32>
    %p = annudf.capture "p" : !annudf.capture<f32>
    annudf.keep {
      %row = annudf.index row
      %v = annudf.load %price[%row] : !annudf.capture<row x f32>
      %most = annudf.load %p[] : !annudf.capture<f32>
      %b = arith.cmpf ole, %v, %most : f32
      annudf.yield %b : i1
    }
  }

  // CHECK: annudf.metric @small
  // CHECK-SAME: packed {
  annudf.metric @small order(min) coarse(l2) elements(u8) {
    annudf.init {
      %0 = arith.constant 0.0 : f32
      annudf.yield %0 : f32
    }
    annudf.update (%acc: f32, %x: f32, %y: f32) {
      %d = arith.subf %x, %y : f32
      %r = math.fma %d, %d, %acc : f32
      annudf.yield %r : f32
    }
  }

  // Code that no metric reaches is not annudf's: it may be public, write, and call itself.
  func.func @host(%out: memref<?xf32>) {
    %i = arith.constant 0 : index
    %v = arith.constant 1.0 : f32
    memref.store %v, %out[%i] : memref<?xf32>
    func.call @host(%out) : (memref<?xf32>) -> ()
    return
  }
  llvm.func @declared(f32) -> f32
  llvm.mlir.global internal @global(1.0 : f32) : f32
}
