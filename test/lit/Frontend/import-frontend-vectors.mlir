// Functions of two vectors: loops that count up to a value become scf.for, in a distance alone.
// RUN: annudf-opt %s -annudf-import-frontend | FileCheck %s
// RUN: annudf-opt %s -annudf-import-frontend -annudf-raise-pairwise -annudf-verify-abi | FileCheck %s --check-prefix=RAISED

// The variables of the loop are carried, its counter counts up to dims. The loop in a loop goes
// from 1 by 2; a helper takes a vector.
// CHECK-LABEL: annudf.pairwise @canberra
// CHECK:         annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
// CHECK-DAG:       %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:       %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG:       %[[DIMS:.*]] = annudf.index dims
// CHECK:           %[[N:.*]] = arith.index_cast %[[DIMS]] : index to i64
// CHECK:           %[[SUM:.*]]{{(:2)?}} = scf.for %[[I:.*]] = %[[ZERO]] to %[[N]] step %[[ONE]] iter_args({{.*}}) -> ({{.*}})
// CHECK:             %[[AT:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK:             annudf.at %[[X]][%{{.*}}] : !annudf.vector<f32>
// CHECK:             scf.if
// CHECK:           scf.if
// RAISED-LABEL: annudf.metric @canberra
// RAISED:         annudf.update (%[[ACC:.*]]: f32, %[[X:.*]]: f32, %[[Y:.*]]: f32) {
// RAISED:           %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// RAISED:             arith.divf
// RAISED:           annudf.yield %[[R]] : f32
// RAISED:         annudf.finalize (%{{.*}}: f32) {
// RAISED:           annudf.index dims
func.func private @magnitude(%v: !annudf.vector<f32>, %i: i64) -> f32 {
  %at = arith.index_cast %i : i64 to index
  %c = annudf.at %v[%at] : !annudf.vector<f32>
  %a = math.absf %c : f32
  return %a : f32
}
func.func private @canberra_distance(%x: !annudf.vector<f32>, %y: !annudf.vector<f32>, %ctx: none) -> f32 {
  %counter = memref.alloca() : memref<1xi64>
  %result = memref.alloca() {annudf.variable = "result"} : memref<1xf32>
  %first = arith.constant 0 : index
  %begin = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %result[%first] : memref<1xf32>
  memref.store %begin, %counter[%first] : memref<1xi64>
  %dims = annudf.index dims
  %n = arith.index_cast %dims : index to i64
  cf.br ^head
^head:
  %i = memref.load %counter[%first] : memref<1xi64>
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : i64
  memref.store %next, %counter[%first] : memref<1xi64>
  %at = arith.index_cast %i : i64 to index
  %xi = annudf.at %x[%at] : !annudf.vector<f32>
  %yi = annudf.at %y[%at] : !annudf.vector<f32>
  %ax = func.call @magnitude(%x, %i) : (!annudf.vector<f32>, i64) -> f32
  %ay = func.call @magnitude(%y, %i) : (!annudf.vector<f32>, i64) -> f32
  %whole = arith.addf %ax, %ay : f32
  %c = arith.cmpf ogt, %whole, %zero : f32
  cf.cond_br %c, ^add, ^head
^add:
  %d = arith.subf %xi, %yi : f32
  %a = math.absf %d : f32
  %q = arith.divf %a, %whole : f32
  %before = memref.load %result[%first] : memref<1xf32>
  %sum = arith.addf %before, %q : f32
  memref.store %sum, %result[%first] : memref<1xf32>
  cf.br ^head
^exit:
  %last = memref.load %result[%first] : memref<1xf32>
  %empty = arith.cmpf oeq, %last, %zero : f32
  cf.cond_br %empty, ^nothing, ^mean
^nothing:
  return %zero : f32
^mean:
  %number = arith.sitofp %n : i64 to f32
  %mean = arith.divf %last, %number : f32
  return %mean : f32
}
annudf.pairwise @canberra order(min) coarse(l2) elements(f32, f16) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %ctx = builtin.unrealized_conversion_cast to none
    %r = func.call @canberra_distance(%x, %y, %ctx) : (!annudf.vector<f32>, !annudf.vector<f32>, none) -> f32
    annudf.yield %r : f32
  }
}
