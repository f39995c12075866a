// RUN: annudf-opt %s --annudf-reads-to-loops | FileCheck %s
// RUN: annudf-opt %s --annudf-reads-to-loops --annudf-raise-pairwise --annudf-verify-abi | FileCheck %s --check-prefix=METRIC

// Both reads of a coordinate share a loop; one below a condition and one in a loop too. The second
// coordinate is there because the metric is for two dimensions.
// CHECK-LABEL: annudf.pairwise @plane
// CHECK:         annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
// CHECK-NEXT:      %[[BEGIN:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[STEP:.*]] = arith.constant 1 : index
// CHECK-NEXT:      %[[WANTED:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[DIMS:.*]] = annudf.index dims
// CHECK-NEXT:      %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:      %[[X0:.*]] = scf.for %[[I:.*]] = %[[BEGIN]] to %[[DIMS]] step %[[STEP]] iter_args(%[[ACC:.*]] = %[[NONE]]) -> (f32) {
// CHECK-NEXT:        %[[XI:.*]] = annudf.at %[[X]][%[[I]]]
// CHECK-NEXT:        %[[IS:.*]] = arith.cmpi eq, %[[I]], %[[WANTED]] : index
// CHECK-NEXT:        %[[TERM:.*]] = arith.select %[[IS]], %[[XI]], %[[NONE]] : f32
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[ACC]], %[[TERM]] : f32
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK-NEXT:      }
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:       scf.for
// CHECK:           scf.if
// CHECK-NOT:       annudf.at
// CHECK:           annudf.yield
// CHECK-LABEL: annudf.pairwise @first
// METRIC-LABEL: annudf.metric @plane order(min) coarse(l2) elements(f32) dims(2) {
// METRIC:         annudf.update (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
annudf.pairwise @plane order(min) coarse(l2) elements(f32) dims(2) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %at = arith.index_cast %one : i64 to index
    %x0 = annudf.at %x[%zero] : !annudf.vector<f32>
    %y1 = annudf.at %y[%at] : !annudf.vector<f32>
    %c = arith.cmpf olt, %x0, %y1 : f32
    %r = scf.if %c -> (f32) {
      %again = annudf.at %x[%zero] : !annudf.vector<f32>
      %y0 = annudf.at %y[%zero] : !annudf.vector<f32>
      %d = arith.subf %again, %y0 : f32
      scf.yield %d : f32
    } else {
      scf.yield %y1 : f32
    }
    annudf.yield %r : f32
  }
}

// Integers add up zeros; every vector has a first coordinate.
// METRIC-LABEL: annudf.metric @first
// METRIC:         annudf.init {
// METRIC:           arith.constant 0 : i32
// METRIC:         annudf.update
// METRIC:           %[[DIM:.*]] = annudf.index dim
// METRIC:           arith.cmpi eq, %[[DIM]]
// METRIC:           arith.addi
annudf.pairwise @first order(min) coarse(l2) elements(i8) {
  annudf.distance (%x: !annudf.vector<i32>, %y: !annudf.vector<i32>) {
    %zero = arith.constant 0 : index
    %x0 = annudf.at %x[%zero] : !annudf.vector<i32>
    %y0 = annudf.at %y[%zero] : !annudf.vector<i32>
    %d = arith.subi %x0, %y0 : i32
    %r = arith.sitofp %d : i32 to f32
    annudf.yield %r : f32
  }
}
