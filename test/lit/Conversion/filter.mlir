// RUN: annudf-opt %s --annudf-lower-to-nvvm=metric=affordable | FileCheck %s --check-prefixes=CHECK,NVVM
// RUN: annudf-opt %s --annudf-lower-to-llvm=metric=affordable | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: not annudf-opt %s --annudf-lower-to-nvvm 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: annudf-lower-to-nvvm: the module holds 2 metrics and filters, so one must be named; there are affordable, l1

// A filter is two functions, whatever else the module holds.
annudf.filter @affordable {
  %price = annudf.capture "price" : !annudf.capture<row x f32>
  %most = annudf.capture "most" : !annudf.capture<f32>
  annudf.keep {
    %row = annudf.index row
    %list = annudf.index list
    %dims = annudf.index dims
    %p = annudf.load %price[%row] : !annudf.capture<row x f32>
    %m = annudf.load %most[] : !annudf.capture<f32>
    %b = func.call @below(%p, %m) : (f32, f32) -> i1
    %c = arith.cmpi ult, %list, %dims : index
    %r = arith.ori %b, %c : i1
    annudf.yield %r : i1
  }
}
annudf.metric @l1 order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}
func.func private @below(%a: f32, %b: f32) -> i1 {
  %r = arith.cmpf ole, %a, %b : f32
  return %r : i1
}

// CHECK-NOT: scan
// CHECK-NOT: below
// CHECK: llvm.func @annudf1_filter_keep(%[[DIMS:.*]]: i32, %[[ROW:.*]]: i64, %{{.*}}: i32, %[[LIST:.*]]: i32, %[[SLOTS:.*]]: !llvm.ptr) -> i32
// CHECK-SAME: always_inline, no_unwind
// NVVM: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
// HOST: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr{{$}}
// CHECK: llvm.getelementptr inbounds %{{.*}}[%[[ROW]]]
// CHECK: llvm.getelementptr inbounds %[[SLOTS]][1]
// CHECK: %[[KEPT:.*]] = llvm.or %{{.*}}, %{{.*}} : i1
// CHECK: %[[WORD:.*]] = llvm.zext %[[KEPT]] : i1 to i32
// CHECK: llvm.return %[[WORD]] : i32
// CHECK: llvm.func @annudf1_filter_contract() -> i64
// CHECK: llvm.mlir.constant({{-?[0-9]+}} : i64) : i64
// CHECK-NOT: scan
