// What annudf-build-kernel is asked for, and cannot write.
// RUN: not annudf-opt %s --annudf-build-kernel="kind=nearest" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'builtin.module' op cannot get a kernel of kind=nearest; write kind=all-distances or kind=k-nearest
// RUN: not annudf-opt %s --annudf-build-kernel="kind=k-nearest metric=m" 2>&1 | FileCheck %s --check-prefix=NO-K
// NO-K: error: 'builtin.module' op cannot get a kernel that finds k=0 rows; give a number from 1 to 128
// RUN: not annudf-opt %s --annudf-build-kernel="kind=k-nearest k=129 metric=m" 2>&1 | FileCheck %s --check-prefix=LARGE-K
// LARGE-K: error: 'builtin.module' op cannot get a kernel that finds k=129 rows; give a number from 1 to 128
// RUN: not annudf-opt %s --annudf-build-kernel="k=3 metric=m" 2>&1 | FileCheck %s --check-prefix=K
// K: error: 'builtin.module' op gets a kernel of all distances, which has no k=3; leave k out or write kind=k-nearest
// RUN: not annudf-opt %s --annudf-build-kernel="name=a-b metric=m" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: 'builtin.module' op cannot get a kernel or gpu.module named 'a-b'; use letters, digits and _, not beginning with a digit
// RUN: not annudf-opt %s --annudf-build-kernel="gpu-module=1st metric=m" 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: error: 'builtin.module' op cannot get a kernel or gpu.module named '1st'; use letters, digits and _, not beginning with a digit
// RUN: not annudf-opt %s --annudf-build-kernel="element=f32" 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: 'builtin.module' op holds 4 metrics, and a kernel calls one; give metric= one of m, bits, linked, endless
// RUN: not annudf-opt %s --annudf-build-kernel="metric=l2" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'builtin.module' op holds no metric 'l2'; give metric= one of m, bits, linked, endless
// RUN: not annudf-opt %s --annudf-build-kernel="metric=rows" 2>&1 | FileCheck %s --check-prefix=FILTER
// FILTER: error: 'builtin.module' op holds no metric 'rows'; give metric= one of m, bits, linked, endless
// RUN: echo 'module {}' | not annudf-opt --annudf-build-kernel 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'builtin.module' op holds no annudf.metric to build a kernel for; write one
// RUN: not annudf-opt %s --annudf-build-kernel="metric=m" 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// ELEMENTS: build-kernel_invalid.mlir:[[@LINE+19]]:1: error: 'annudf.metric' op lists 2 element types, and a kernel reads one; give element= one of f32, u8
// RUN: not annudf-opt %s --annudf-build-kernel="metric=m element=f16" 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: 'annudf.metric' op cannot get a kernel for element type 'f16'; give element= one of f32, u8
// RUN: not annudf-opt %s --annudf-build-kernel="metric=m element=bits" 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: 'annudf.metric' op cannot get a kernel for element type 'bits'; give element= one of f32, u8
// RUN: not annudf-opt %s --annudf-build-kernel="metric=bits" 2>&1 | FileCheck %s --check-prefix=ONLY-BITS
// ONLY-BITS: error: 'annudf.metric' op lists bits alone, which no memref holds; list u8, too
// RUN: not annudf-opt %s --annudf-build-kernel="metric=linked" 2>&1 | FileCheck %s --check-prefix=LINKED
// LINKED: error: 'annudf.metric' op calls linked code, which no kernel can hold; write what it computes as a helper
// RUN: not annudf-opt %s --annudf-build-kernel="metric=m element=u8 gpu-module=busy" 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: error: 'annudf.metric' op stands beside 'busy' already; give another gpu-module=
// RUN: annudf-opt %s --annudf-build-kernel="metric=m element=u8 kind=k-nearest k=1 name=f" | not annudf-opt --annudf-build-kernel="metric=m element=f32 name=f_merge" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'annudf.metric' op stands beside 'f_merge' already; give another name=
// The rules are checked before a kernel is written.
// RUN: sed 's/%one = arith.constant 1 : index/%one = arith.constant 0 : index/' %s | not annudf-opt --annudf-build-kernel="metric=m element=u8" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RULE
// RULE: error: 'scf.for' op [S2] needs a positive step, got 0; count upwards

annudf.metric @m order(min) coarse(l2) elements(f32, u8, bits) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
annudf.metric @bits order(min) coarse(l2) elements(bits) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
annudf.extern @scaled convention(c) (f32, f32) -> f32 link(cuda_source "extern \"C\" __device__ float scaled(float x, float y) { return 2 * (x - y); }")
func.func private @helper(%x: f32, %y: f32) -> f32 {
  %r = annudf.call @scaled(%x, %y) : (f32, f32) -> f32
  return %r : f32
}
annudf.metric @linked order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @helper(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}
annudf.metric @endless order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %r = scf.for %i = %zero to %two step %one iter_args(%a = %acc) -> (f32) {
      scf.yield %a : f32
    }
    annudf.yield %r : f32
  }
}
annudf.filter @rows {
  annudf.keep {
    %0 = arith.constant true
    annudf.yield %0 : i1
  }
}
gpu.module @busy {
}
