// RUN: annudf-opt %s --annudf-carry-prefixes | FileCheck %s
// RUN: annudf-opt %s --annudf-carry-prefixes --annudf-hoist-prepare --annudf-raise-pairwise --annudf-verify-abi | FileCheck %s --check-prefix=METRIC

// A cumulative sum in a branch, and one of it. What they need is computed before the loop.
// CHECK-LABEL: annudf.pairwise @nested
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[HALF:.*]] = arith.mulf
// CHECK-NEXT:    %[[R:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]], %[[OUTER:.*]] = %[[ZERO]], %[[INNER:.*]] = %[[ZERO]]) -> (f32, f32, f32)
// CHECK-NOT:       scf.for
// CHECK:           %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[HALF]]
// CHECK:           %[[NEWINNER:.*]] = arith.addf %[[INNER]], %[[SCALED]]
// CHECK:           %[[NEWOUTER:.*]] = arith.addf %[[OUTER]], %[[NEWINNER]]
// CHECK:           scf.if
// CHECK:             scf.yield %[[NEWOUTER]]
// CHECK:           scf.yield %{{.*}}, %[[NEWOUTER]], %[[NEWINNER]] : f32, f32, f32
// CHECK:         annudf.yield %[[R]]#0
// METRIC-LABEL: annudf.metric @nested
// METRIC:         annudf.update (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
annudf.pairwise @nested order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "p" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %first = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %dims = annudf.index dims
    %wide = arith.index_cast %dims : index to i64
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %first to %wide step %one iter_args(%acc = %zero) -> (f32) : i64 {
      %at = arith.index_cast %i : i64 to index
      %xi = annudf.at %x[%at] : !annudf.vector<f32>
      %c = arith.cmpf ogt, %xi, %zero : f32
      %r = scf.if %c -> (f32) {
        %end = arith.addi %at, %step : index
        %power = annudf.load %p[] : !annudf.capture<f32>
        %half = arith.mulf %power, %power : f32
        %cdf = scf.for %j = %begin to %end step %step iter_args(%u = %zero) -> (f32) {
          %last = arith.addi %step, %j : index
          %inner = scf.for %k = %begin to %last step %step iter_args(%v = %zero) -> (f32) {
            %yk = annudf.at %y[%k] : !annudf.vector<f32>
            %t = arith.mulf %yk, %half : f32
            %more = arith.addf %v, %t : f32
            scf.yield %more : f32
          }
          %more = arith.addf %u, %inner : f32
          scf.yield %more : f32
        }
        scf.yield %cdf : f32
      } else {
        scf.yield %xi : f32
      }
      %next = arith.addf %acc, %r : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}

// A value of an earlier loop is prepared.
// METRIC-LABEL: annudf.metric @normalised
// METRIC-NEXT:    annudf.capture "prepared_y_0"
// METRIC:         annudf.update (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
annudf.pairwise @normalised order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %total = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %end = arith.addi %i, %step : index
      %cdf = scf.for %j = %begin to %end step %step iter_args(%u = %zero) -> (f32) {
        %yj = annudf.at %y[%j] : !annudf.vector<f32>
        %t = arith.divf %yj, %total : f32
        %more = arith.addf %u, %t : f32
        scf.yield %more : f32
      }
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %cdf, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
