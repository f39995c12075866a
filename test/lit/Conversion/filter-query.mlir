// RUN: annudf-opt %s --annudf-lower-to-nvvm=metric=visible | FileCheck %s
// RUN: annudf-opt %s --annudf-lower-to-llvm=metric=visible | FileCheck %s

// The number of the query is keep's third argument, and an entry of its capture lies at it.
annudf.filter @visible {
  %tenant = annudf.capture "tenant" : !annudf.capture<row x i32>
  %mine = annudf.capture "mine" : !annudf.capture<query x i32>
  annudf.keep {
    %row = annudf.index row
    %query = annudf.index query
    %t = annudf.load %tenant[%row] : !annudf.capture<row x i32>
    %m = annudf.load %mine[%query] : !annudf.capture<query x i32>
    %b = arith.cmpi eq, %t, %m : i32
    annudf.yield %b : i1
  }
}

// CHECK: llvm.func @annudf1_filter_keep(%{{.*}}: i32, %[[ROW:.*]]: i64, %[[QUERY:.*]]: i32, %{{.*}}: i32, %[[SLOTS:.*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[AT:.*]] = llvm.{{[sz]}}ext %[[QUERY]] : i32 to i64
// CHECK-DAG: llvm.getelementptr inbounds %{{.*}}[%[[ROW]]]
// CHECK: llvm.getelementptr inbounds %{{.*}}[%[[AT]]]
// CHECK: llvm.icmp "eq"
