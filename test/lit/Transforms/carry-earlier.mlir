// RUN: annudf-opt %s --annudf-carry-earlier | FileCheck %s
// RUN: annudf-opt %s --annudf-carry-earlier --annudf-raise-pairwise --annudf-verify-abi | FileCheck %s --check-prefix=METRIC

// Two turns back for x, none for y, whose index is the counter once more; the counter is an i64, and
// both branches of conditions show something.
// CHECK-LABEL: annudf.pairwise @steps
// CHECK:         scf.for %[[I:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[ONE:.*]] = %[[ZERO:.*]], %[[TWO:.*]] = %[[ZERO]]) -> (f32, f32, f32)
// CHECK:           %[[NOW:.*]] = annudf.at %arg0[%{{.*}}]
// CHECK:           scf.if
// CHECK:             arith.subf %[[TWO]], %{{.*}} : f32
// CHECK:             arith.addf %[[ONE]], %{{.*}} : f32
// CHECK:           scf.yield %{{.*}}, %[[NOW]], %[[ONE]] : f32, f32, f32
// METRIC-LABEL: annudf.metric @steps
// METRIC:         annudf.update (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
annudf.pairwise @steps order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : i64
    %step = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %n = annudf.index dims
    %dims = arith.index_cast %n : index to i64
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) : i64 {
      %before = arith.subi %i, %step : i64
      %early = arith.cmpi slt, %before, %step : i64
      %next = scf.if %early -> (f32) {
        scf.yield %acc : f32
      } else {
        %back = arith.subi %before, %step : i64
        %at = arith.index_cast %back : i64 to index
        %u = annudf.at %x[%at] : !annudf.vector<f32>
        %again = arith.addi %two, %back : i64
        %here = arith.index_cast %again : i64 to index
        %v = annudf.at %y[%here] : !annudf.vector<f32>
        %d = arith.subf %u, %v : f32
        %one = arith.index_cast %before : i64 to index
        %w = annudf.at %x[%one] : !annudf.vector<f32>
        %e = arith.addf %w, %d : f32
        %more = math.fma %e, %d, %acc : f32
        scf.yield %more : f32
      }
      scf.yield %next : f32
    }
    annudf.yield %sum : f32
  }
}
