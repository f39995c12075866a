// RUN: annudf-opt %s --split-input-file --annudf-build-kernel="metric=weighted element=u8" | FileCheck %s --check-prefix=ALL
// RUN: annudf-opt %s --split-input-file --annudf-build-kernel="metric=weighted element=u8 kind=k-nearest k=5 name=nearest gpu-module=code chip=" \
// RUN:   | FileCheck %s --check-prefix=NEAREST
// RUN: annudf-opt %s --split-input-file --annudf-build-kernel="metric=weighted element=u8" --annudf-inline-hooks | FileCheck %s --check-prefix=INLINED
// RUN: annudf-opt %s --split-input-file --annudf-build-kernel="metric=weighted element=u8 kind=k-nearest k=128" --annudf-verify-abi --annudf-inline-hooks \
// RUN:   | FileCheck %s --check-prefix=INLINED

// The metric moves with its helper, which another metric keeps, too. What a hook reads is passed.

func.func private @squared(%x: f64) -> f64 {
  %r = arith.mulf %x, %x : f64
  return %r : f64
}
annudf.metric @weighted order(max) coarse(l2) elements(f32, f16, u8, bits) accumulator(f64, u32) dims(48) {
  %w = annudf.capture "w" : !annudf.capture<query x dim x ui16>
  %half = annudf.capture "half" = 0.5 : f32 : !annudf.capture<f32>
  %table = annudf.capture "table" : !annudf.capture<4 x bf16>
  %scale = annudf.capture "scale" : !annudf.capture<f32>
  annudf.init {
    %0 = arith.constant 0.0 : f64
    %1 = arith.constant 0 : i32
    annudf.yield %0, %1 : f64, i32
  }
  annudf.update (%acc: f64, %count: i32, %x: f64, %y: f64) {
    %q = annudf.index query
    %d = annudf.index dim
    %w0 = annudf.load %w[%q, %d] : !annudf.capture<query x dim x ui16>
    %w1 = arith.uitofp %w0 : i16 to f64
    %t = arith.subf %x, %y : f64
    %s = func.call @squared(%t) : (f64) -> f64
    %r = math.fma %w1, %s, %acc : f64
    annudf.yield %r, %count : f64, i32
  }
  annudf.finalize (%acc: f64, %count: i32) {
    %row = annudf.index row
    %n = annudf.index dims
    %i = arith.index_cast %n : index to i64
    %j = arith.index_cast %row : index to i64
    %k = arith.addi %i, %j : i64
    %f = arith.sitofp %k : i64 to f64
    %q = arith.divf %acc, %f : f64
    %r = arith.truncf %q : f64 to f32
    annudf.yield %r : f32
  }
}
annudf.metric @other order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f64
    annudf.yield %0 : f64
  }
  annudf.update (%acc: f64, %x: f64, %y: f64) {
    %t = arith.subf %x, %y : f64
    %s = func.call @squared(%t) : (f64) -> f64
    annudf.yield %s : f64
  }
}

// ALL-LABEL: module attributes {gpu.container_module} {
// ALL-NEXT: func.func private @squared
// ALL: annudf.metric @other
// ALL: gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
// ALL-NEXT: func.func private @squared
// ALL: annudf.metric @weighted
// ALL: gpu.func @all_distances(%[[QUERIES:.*]]: memref<?x48xi8>, %[[ROWS:.*]]: memref<?x48xi8>, %[[W:.*]]: memref<?x?xi16>, %[[TABLE:.*]]: memref<4xbf16>, %[[SCALE:.*]]: f32, %[[OUT:.*]]: memref<?x?xf32>)
// ALL-SAME: workgroup(%[[ROWTILE:.*]] : memref<128x17xf64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[QUERYTILE:.*]] : memref<16x8xf64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// ALL-SAME: kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
// ALL: %[[COUNT:.*]] = memref.dim %[[ROWS]], %c0
// ALL: %[[DIMS:.*]] = memref.dim %[[ROWS]], %c1
// ALL: scf.for %[[FIRST:.*]] = %{{.*}} to %[[COUNT]]
// ALL: %[[ROW:.*]] = arith.addi %[[FIRST]], %thread_id_x
// ALL: %[[ISROW:.*]] = arith.cmpi ult, %[[ROW]], %[[COUNT]]
// ALL: %[[OWN:.*]] = arith.minui %[[ROW]]
// ALL-COUNT-8: annudf.call_init @weighted() : () -> (f64, i32)
// ALL: scf.for
// ALL-NEXT: gpu.barrier
// ALL: memref.load %[[ROWS]]
// ALL: arith.uitofp %{{.*}} : i8 to f64
// ALL: memref.store %{{.*}}, %[[ROWTILE]]
// ALL: memref.load %[[QUERIES]]
// ALL: memref.store %{{.*}}, %[[QUERYTILE]]
// ALL: gpu.barrier
// ALL: scf.for
// ALL: %[[Y:.*]] = memref.load %[[ROWTILE]][%thread_id_x, %
// ALL: %[[X:.*]] = memref.load %[[QUERYTILE]]
// ALL-NEXT: annudf.call_update @weighted(%{{.*}}, %{{.*}}, %[[X]], %[[Y]]) ctx(dim = %{{.*}}, query = %{{.*}}) captures(%[[W]], %[[TABLE]], %[[SCALE]] : memref<?x?xi16>, memref<4xbf16>, f32)
// ALL-COUNT-7: annudf.call_update
// ALL-COUNT-8: annudf.call_finalize @weighted(%{{.*}}, %{{.*}}) ctx(dims = %[[DIMS]], row = %[[OWN]]) : (f64, i32) -> f32
// ALL-COUNT-8: memref.store %{{.*}}, %[[OUT]]
// ALL: gpu.return

// NEAREST: gpu.module @code {
// NEAREST: gpu.func @nearest(%{{.*}}: memref<?x48xi8>, %{{.*}}: memref<?x48xi8>, %{{.*}}: memref<?x?xi16>, %{{.*}}: memref<4xbf16>, %{{.*}}: f32, %[[DISTANCES:.*]]: memref<?x?x5xf32>, %[[IDS:.*]]: memref<?x?x5xi64>)
// NEAREST: arith.constant 0xFF800000 : f32
// NEAREST: arith.uitofp %{{.*}} : i8 to f64
// NEAREST: arith.cmpf ogt
// NEAREST: memref.atomic_rmw addi
// NEAREST: memref.store %{{.*}}, %[[DISTANCES]]
// NEAREST: memref.store %{{.*}}, %[[IDS]]
// NEAREST: gpu.func @nearest_merge(%{{.*}}: memref<?x?x5xf32>, %{{.*}}: memref<?x?x5xi64>, %[[MERGED:.*]]: memref<?x5xf32>, %[[MERGEDIDS:.*]]: memref<?x5xi64>)
// NEAREST-SAME: workgroup(%{{.*}} : memref<1x5xf32, #gpu.address_space<workgroup>>
// NEAREST: scf.while
// NEAREST: scf.condition
// NEAREST: gpu.barrier
// NEAREST: memref.atomic_rmw addi
// NEAREST: memref.store %{{.*}}, %[[MERGED]]
// NEAREST: memref.store %{{.*}}, %[[MERGEDIDS]]

// INLINED: gpu.module
// INLINED-NOT: annudf.
// INLINED: gpu.func
// INLINED-NOT: annudf.

// -----

// The metric stands in a gpu.module, which stays as it is. Its helper is not moved. Without finalize
// the kernel converts the accumulator.

module attributes {gpu.container_module} {
  gpu.module @own {
    annudf.metric @weighted order(min) coarse(l2) elements(u8, bits) accumulator(u32) {
      annudf.init {
        %0 = arith.constant 0 : i32
        annudf.yield %0 : i32
      }
      annudf.update (%acc: i32, %x: i32, %y: i32) {
        %d = arith.xori %x, %y : i32
        %r = arith.addi %acc, %d : i32
        annudf.yield %r : i32
      }
    }
  }
}

// ALL-NOT: gpu.module @kernels
// ALL: gpu.module @own {
// ALL: gpu.func @all_distances(%{{.*}}: memref<?x?xi8>, %{{.*}}: memref<?x?xi8>, %{{.*}}: memref<?x?xf32>)
// ALL: arith.extui %{{.*}} : i8 to i32
// ALL-COUNT-8: arith.uitofp %{{.*}} : i32 to f32
