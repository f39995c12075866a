// RUN: annudf-opt %s --annudf-to-host | FileCheck %s
// RUN: annudf-opt %s --annudf-to-nvvm | FileCheck %s --check-prefix=GPU

// A host has rows as its lanes, so both sides of a branch are computed. What its condition had proved
// is proved without it: of a load, a division and a shift. So has a GPU it, but for the last branch,
// which weighs too much.
annudf.metric @m order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %t = annudf.capture "t" : !annudf.capture<17 x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // CHECK-LABEL: llvm.func @annudf1_scan_update_a32_x32(
  // CHECK-NOT: cond_br
  // GPU-LABEL: llvm.func @annudf1_scan_update_a32_x32(
  // GPU-NOT: cond_br
  // GPU: umin
  // GPU-NOT: cond_br
  // GPU: umin
  // GPU-NOT: cond_br
  // GPU: llvm.sdiv
  // GPU-NOT: cond_br
  // GPU: llvm.shl
  // GPU-NOT: cond_br
  // GPU: cond_br
  // GPU-NOT: cond_br
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c17 = arith.constant 17 : index
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %least = arith.constant 0x80000000 : i32
    %dim = annudf.index dim

    // An index that is inside whatever the condition is stays as it is.
    // CHECK: %[[DIM:.*]] = llvm.sext %arg3 : i32 to i64
    // CHECK: llvm.getelementptr inbounds %{{.*}}[%[[DIM]]]
    // CHECK: llvm.call_intrinsic "llvm.pow"
    // CHECK: llvm.select
    %more = arith.cmpf ogt, %x, %y : f32
    %a = scf.if %more -> f32 {
      %entry = annudf.load %w[%dim] : !annudf.capture<dim x f32>
      %power = math.powf %x, %entry : f32
      scf.yield %power : f32
    } else {
      scf.yield %y : f32
    }

    // Of one entry a dimension.
    // CHECK: %[[BEFORE:.*]] = llvm.sub %[[DIM]], %{{.*}} : i64
    // CHECK: %[[LAST:.*]] = llvm.sub %{{.*}}, %{{.*}} : i64
    // CHECK: %[[CLAMPED:.*]] = llvm.intr.umin(%[[BEFORE]], %[[LAST]])
    // CHECK: llvm.getelementptr inbounds %{{.*}}[%[[CLAMPED]]]
    %later = arith.cmpi sgt, %dim, %c0 : index
    %b = scf.if %later -> f32 {
      %before = arith.subi %dim, %c1 : index
      %entry = annudf.load %w[%before] : !annudf.capture<dim x f32>
      scf.yield %entry : f32
    } else {
      scf.yield %a : f32
    }

    // Of a table.
    // CHECK: %[[POSITION:.*]] = llvm.call_intrinsic "llvm.fptosi.sat"
    // CHECK: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i64)
    // CHECK: %[[AT:.*]] = llvm.intr.umin(%[[POSITION]], %[[SIXTEEN]])
    // CHECK: llvm.getelementptr inbounds %{{.*}}[%[[AT]]]
    %i = arith.fptosi %y : f32 to i64
    %position = arith.index_cast %i : i64 to index
    %inside = arith.cmpi ult, %position, %c17 : index
    %c = scf.if %inside -> f32 {
      %entry = annudf.load %t[%position] : !annudf.capture<17 x f32>
      scf.yield %entry : f32
    } else {
      scf.yield %b : f32
    }

    // Neither by 0 nor the smallest by -1.
    // CHECK: %[[ISZERO:.*]] = llvm.icmp "eq" %[[BY:.*]], %{{.*}} : i32
    // CHECK: %[[ISMINUS:.*]] = llvm.icmp "eq" %[[BY]], %{{.*}} : i32
    // CHECK: %[[ISLEAST:.*]] = llvm.icmp "eq" %[[WHOLE:.*]], %{{.*}} : i32
    // CHECK: %[[OVERFLOWS:.*]] = llvm.and %[[ISMINUS]], %[[ISLEAST]]
    // CHECK: %[[REFUSED:.*]] = llvm.or %[[ISZERO]], %[[OVERFLOWS]]
    // CHECK: %[[SAFE:.*]] = llvm.select %[[REFUSED]], %{{.*}}, %[[BY]]
    // CHECK: llvm.sdiv %[[WHOLE]], %[[SAFE]]
    %n = arith.fptosi %x : f32 to i32
    %d = arith.fptosi %y : f32 to i32
    %positive = arith.cmpi sgt, %d, %zero : i32
    %q = scf.if %positive -> i32 {
      %quotient = arith.divsi %n, %d : i32
      scf.yield %quotient : i32
    } else {
      scf.yield %n : i32
    }

    // By less than the width.
    // CHECK: %[[AMOUNT:.*]] = llvm.and %[[BY]], %{{.*}} : i32
    // CHECK: llvm.shl %{{.*}}, %[[AMOUNT]]
    %few = arith.cmpi ule, %d, %seven : i32
    %s = scf.if %few -> i32 {
      %shifted = arith.shli %q, %d : i32
      scf.yield %shifted : i32
    } else {
      scf.yield %q : i32
    }

    // More than a GPU computes for threads that do not want it.
    %p = scf.if %more -> f32 {
      %once = math.powf %x, %c : f32
      %twice = math.powf %once, %c : f32
      scf.yield %twice : f32
    } else {
      scf.yield %c : f32
    }
    // CHECK: llvm.return
    %f = arith.sitofp %s : i32 to f32
    %g = arith.addf %p, %f : f32
    %next = arith.addf %acc, %g : f32
    annudf.yield %next : f32
  }
}
