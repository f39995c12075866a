// The dialect, its passes and its pipelines inside mlir-opt as it is packaged. (Pass options such as
// --annudf-verify-abi are read before a plugin is loaded; --pass-pipeline is read after.)
// REQUIRES: mlir-plugin
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(annudf-verify-abi,annudf-infer-combine)' | FileCheck %s --check-prefix=INFER
// RUN: mlir-opt --load-pass-plugin=%plugin --load-dialect-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(annudf-to-host)' | FileCheck %s --check-prefix=HOST
// RUN: mlir-opt --load-dialect-plugin=%plugin %s --pass-pipeline='builtin.module(annudf-to-nvvm,cse)' \
// RUN:   | FileCheck %s --check-prefix=NVVM
// RUN: mlir-opt --load-dialect-plugin=%plugin --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: sed 's/%%w\[%%d\]/%%w[%%next]/' %s | not mlir-opt --load-dialect-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(annudf-verify-abi)' 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// DIALECTS: amx,annudf,arith
// WITHOUT: error: Dialect `annudf' not found for custom op 'annudf.metric'
// REFUSED: error: 'annudf.load' op [L3] index of extent dim

// INFER: annudf.combine (%[[A:.*]]: f32, %[[B:.*]]: f32)
// INFER-NEXT: arith.addf %[[A]], %[[B]] : f32
// HOST: llvm.func @annudf1_scan_update_a32_x32
// NVVM: llvm.func @annudf1_scan_update_a32_x32
annudf.metric @weighted order(min) coarse(l2) elements(f32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %one = arith.constant 1 : index
    %next = arith.addi %d, %one : index
    %wd = annudf.load %w[%d] : !annudf.capture<dim x f32>
    %t = arith.subf %x, %y : f32
    %t2 = arith.mulf %t, %t : f32
    %r = math.fma %wd, %t2, %acc : f32
    annudf.yield %r : f32
  }
}
