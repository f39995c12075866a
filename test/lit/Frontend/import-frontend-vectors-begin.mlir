// A loop of a distance begins where its entries say.
// RUN: annudf-opt %s -annudf-import-frontend | FileCheck %s

// CHECK-LABEL: annudf.pairwise @p
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[FIVE:.*]] = arith.constant 5 : i64
// CHECK:         %[[BEGIN:.*]] = arith.select %{{.*}}, %[[ZERO]], %[[FIVE]] : i64
// CHECK:         scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %{{.*}} iter_args(
func.func private @f(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>, %ctx: none) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %five = arith.constant 5 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %w = builtin.unrealized_conversion_cast %ctx : none to !annudf.capture<f32> {annudf.capture = "w"}
  %v = annudf.load %w[] : !annudf.capture<f32>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  %c = arith.cmpf ogt, %v, %zero : f32
  cf.cond_br %c, ^from_zero, ^from_five
^from_zero:
  memref.store %begin, %counter[%first] : memref<1xi64>
  cf.br ^head
^from_five:
  memref.store %five, %counter[%first] : memref<1xi64>
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  cf.br ^head
^exit:
  %last = arith.sitofp %i : i64 to f32
  return %last : f32
}
annudf.pairwise @p order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @f(%x, %y, %ctx) : (!annudf.vector<f32>, !annudf.vector<f32>, none) -> f32
    annudf.yield %r : f32
  }
}
