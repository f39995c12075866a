// RUN: annudf-opt %s --annudf-hoist-prepare | FileCheck %s
// RUN: annudf-opt %s --annudf-hoist-prepare --annudf-raise-pairwise --annudf-verify-abi | FileCheck %s --check-prefix=METRIC

// One loop carries a sum of each vector, and only the mean of each is needed. The mean is computed
// before the pairs; the weights go with the distance that reads them.
// CHECK-LABEL: annudf.pairwise @centered order(max) coarse(inner_product) elements(f32) numerics(reassociate) {
// CHECK-NEXT:    %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
// CHECK-NEXT:    %[[MX:.*]] = annudf.capture "prepared_x_0" : !annudf.capture<query x f32>
// CHECK-NEXT:    %[[MY:.*]] = annudf.capture "prepared_y_0" : !annudf.capture<row x f32>
// CHECK-NEXT:    annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
// CHECK:           %[[QUERY:.*]] = annudf.index query
// CHECK-NEXT:      %[[MEANX:.*]] = annudf.load %[[MX]][%[[QUERY]]]
// CHECK:           %[[ROW:.*]] = annudf.index row
// CHECK-NEXT:      %[[MEANY:.*]] = annudf.load %[[MY]][%[[ROW]]]
// CHECK-NEXT:      scf.for
// CHECK:             arith.subf %{{.*}}, %[[MEANX]]
// CHECK:             arith.subf %{{.*}}, %[[MEANY]]
// CHECK-NOT:       scf.for
// CHECK-LABEL: annudf.pairwise @centered_prepared_x_0 order(max) coarse(inner_product) elements(f32) numerics(reassociate) {
// CHECK-NEXT:    %[[W:.*]] = annudf.capture "w" : !annudf.capture<dim x f32>
// CHECK-NEXT:    annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
// CHECK:           %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:        %[[XI:.*]] = annudf.at %[[X]][%[[I]]]
// CHECK-NEXT:        %[[WI:.*]] = annudf.load %[[W]][%[[I]]]
// CHECK-NEXT:        %[[NEXT:.*]] = math.fma %[[XI]], %[[WI]], %[[ACC]]
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[MEAN:.*]] = arith.divf %[[SUM]]
// CHECK-NEXT:      annudf.yield %[[MEAN]] : f32
// CHECK-LABEL: annudf.pairwise @centered_prepared_y_0
// CHECK-NEXT:    annudf.distance (%[[X:.*]]: !annudf.vector<f32>, %[[Y:.*]]: !annudf.vector<f32>) {
// CHECK:           annudf.at %[[Y]]
// CHECK-NOT:       annudf.at
// METRIC-LABEL: annudf.metric @centered order(max)
// METRIC:         annudf.update (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
// METRIC:           annudf.load
// METRIC:           annudf.load
// METRIC-LABEL: annudf.metric @centered_prepared_x_0
// METRIC:         annudf.finalize
// METRIC-LABEL: annudf.metric @centered_prepared_y_0
annudf.pairwise @centered order(max) coarse(inner_product) elements(f32) numerics(reassociate) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 4.0 : f32
    %sumx, %sumy = scf.for %i = %begin to %dims step %step iter_args(%a = %zero, %b = %zero) -> (f32, f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %wi = annudf.load %w[%i] : !annudf.capture<dim x f32>
      %nexta = math.fma %xi, %wi, %a : f32
      %nextb = arith.addf %b, %yi : f32
      scf.yield %nexta, %nextb : f32, f32
    }
    %meanx = arith.divf %sumx, %count : f32
    %meany = arith.divf %sumy, %count : f32
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %u = arith.subf %xi, %meanx : f32
      %v = arith.subf %yi, %meany : f32
      %next = math.fma %u, %v, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}

// Three passes: the deviation needs the mean, and its distance reads it from a capture too. A value
// of both vectors is none, but what it is computed of is. One loop is in a branch. What a value
// after the last loop needs is no second pass, so the sum of y stays. Names that are there are left
// to their owners.
// CHECK-LABEL: annudf.pairwise @scaled
// CHECK-NEXT:    annudf.capture "prepared_y_0" : !annudf.capture<f32>
// CHECK-NEXT:    annudf.capture "prepared_x_0" : !annudf.capture<query x f32>
// CHECK-NEXT:    annudf.capture "prepared_y_1" : !annudf.capture<row x f32>
// CHECK-NEXT:    annudf.capture "prepared_x_1" : !annudf.capture<query x f32>
// CHECK-NEXT:    annudf.distance
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:       scf.for
// CHECK-LABEL: annudf.pairwise @scaled_prepared_x_0
// CHECK-COUNT-1:   scf.for
// CHECK-NOT:       scf.for
// CHECK-LABEL: annudf.pairwise @scaled_prepared_y_1
// CHECK-NEXT:    annudf.distance
// CHECK-LABEL: annudf.pairwise @scaled_prepared_x_1
// CHECK-NEXT:    %[[M:.*]] = annudf.capture "prepared_x_0" : !annudf.capture<query x f32>
// CHECK-NEXT:    annudf.distance
// CHECK:           annudf.load %[[M]]
// CHECK-COUNT-1:   scf.for
// CHECK-NOT:       scf.for
// METRIC-COUNT-4: annudf.metric @scaled
annudf.pairwise @scaled order(min) coarse(l2) elements(f32) {
  %p = annudf.capture "prepared_y_0" : !annudf.capture<f32>
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %most, %sum = scf.for %i = %begin to %dims step %step iter_args(%a = %zero, %b = %zero) -> (f32, f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %nexta = arith.maximumf %a, %xi : f32
      %nextb = arith.addf %b, %yi : f32
      scf.yield %nexta, %nextb : f32, f32
    }
    %spread = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %d = arith.subf %most, %xi : f32
      %next = math.fma %d, %d, %acc : f32
      scf.yield %next : f32
    }
    %power = annudf.load %p[] : !annudf.capture<f32>
    %none = arith.cmpf oeq, %spread, %zero : f32
    %r = scf.if %none -> (f32) {
      scf.yield %power : f32
    } else {
      %top = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
        %yi = annudf.at %y[%i] : !annudf.vector<f32>
        %next = arith.maximumf %acc, %yi : f32
        scf.yield %next : f32
      }
      %both = arith.mulf %top, %spread : f32
      %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
        %xi = annudf.at %x[%i] : !annudf.vector<f32>
        %yi = annudf.at %y[%i] : !annudf.vector<f32>
        %xy = arith.mulf %xi, %yi : f32
        %next = math.fma %xy, %both, %acc : f32
        scf.yield %next : f32
      }
      %q = arith.addf %dot, %sum : f32
      scf.yield %q : f32
    }
    annudf.yield %r : f32
  }
}

// One pass stays as it is, also where its loops are several.
// CHECK-LABEL: annudf.pairwise @one_pass
// CHECK-NEXT:    annudf.distance
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:   annudf.capture "prepared
annudf.pairwise @one_pass order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %xi : f32
      scf.yield %next : f32
    }
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %yi, %acc : f32
      scf.yield %next : f32
    }
    %r = arith.divf %dot, %sum : f32
    annudf.yield %r : f32
  }
}

// A loop that begins with a value of a row takes it in the first turn, also where the loop is
// prepared itself.
// CHECK-LABEL: annudf.pairwise @begun
// CHECK-LABEL: annudf.pairwise @begun_prepared_y_0
// CHECK-LABEL: annudf.pairwise @begun_prepared_y_1
// CHECK-NEXT:    %[[C:.*]] = annudf.capture "prepared_y_0" : !annudf.capture<row x f32>
// CHECK:           %[[FIRST:.*]] = annudf.load %[[C]]
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:        %[[IS:.*]] = arith.cmpi eq, %[[I]], %{{.*}} : index
// CHECK-NEXT:        %[[NOW:.*]] = arith.select %[[IS]], %[[FIRST]], %[[ACC]] : f32
// CHECK:             arith.maximumf %[[NOW]]
// METRIC-LABEL: annudf.metric @begun
annudf.pairwise @begun order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    %most = scf.for %i = %begin to %dims step %step iter_args(%acc = %sum) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.maximumf %acc, %yi : f32
      scf.yield %next : f32
    }
    %dot = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = math.fma %xi, %most, %acc : f32
      scf.yield %next : f32
    }
    annudf.yield %dot : f32
  }
}

// What is known of a value is asked anew once what it is computed of is hoisted.
// CHECK-LABEL: annudf.pairwise @begun_with_both
// CHECK:         %[[BOTH:.*]] = arith.mulf
// CHECK:         scf.for
// CHECK:           arith.select %{{.*}}, %[[BOTH]], %{{.*}} : f32
// METRIC-LABEL: annudf.metric @begun_with_both
annudf.pairwise @begun_with_both order(min) coarse(l2) elements(f32) {
  annudf.distance (%x: !annudf.vector<f32>, %y: !annudf.vector<f32>) {
    %begin = arith.constant 0 : index
    %step = arith.constant 1 : index
    %dims = annudf.index dims
    %zero = arith.constant 0.0 : f32
    %sumx = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %xi : f32
      scf.yield %next : f32
    }
    %sumy = scf.for %i = %begin to %dims step %step iter_args(%acc = %zero) -> (f32) {
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %next = arith.addf %acc, %yi : f32
      scf.yield %next : f32
    }
    %both = arith.mulf %sumx, %sumy : f32
    %most = scf.for %i = %begin to %dims step %step iter_args(%acc = %both) -> (f32) {
      %xi = annudf.at %x[%i] : !annudf.vector<f32>
      %yi = annudf.at %y[%i] : !annudf.vector<f32>
      %product = arith.mulf %xi, %yi : f32
      %next = arith.maximumf %acc, %product : f32
      scf.yield %next : f32
    }
    annudf.yield %most : f32
  }
}
