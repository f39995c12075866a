// What the verifier accepts, at its limits; it changes nothing.
// RUN: annudf-opt %s --annudf-verify-abi > %t.verified && annudf-opt %s > %t.plain && diff %t.plain %t.verified
// RUN: annudf-opt %s --annudf-verify-abi=target=annudf.accumulator.v1 -o /dev/null
// RUN: annudf-opt %s --canonicalize --cse --inline --annudf-verify-abi -o /dev/null
// Every example is accepted.
// RUN: cat %examples/*.mlir %filters/*.mlir | annudf-opt --annudf-verify-abi -o /dev/null

func.func private @square(%a: f32) -> f32 {
  %r = arith.mulf %a, %a : f32
  return %r : f32
}

func.func private @fourth(%a: f32) -> f32 {
  %s = func.call @square(%a) : (f32) -> f32
  %r = func.call @square(%s) : (f32) -> f32
  return %r : f32
}

annudf.metric @control order(min) coarse(l2) elements(f32, f16, i8, u8) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  %n = annudf.capture "n" : !annudf.capture<dim x i32>
  %u = annudf.capture "u" : !annudf.capture<ui32>
  %z = annudf.capture "z" : !annudf.capture<f64>
  annudf.init {
    %nan = arith.constant 0x7FC00000 : f32
    annudf.yield %nan : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %d = annudf.index dim
    %c = arith.cmpf ogt, %x, %y : f32
    // A load under a branch and in a loop is as good as any other.
    %v = scf.if %c -> (f32) {
      %0 = annudf.load %w[%d] : !annudf.capture<dim x f32>
      scf.yield %0 : f32
    } else {
      %0 = func.call @fourth(%x) : (f32) -> f32
      scf.yield %0 : f32
    }
    %lo = arith.constant 0 : index
    %hi = arith.constant 4 : index
    %st = arith.constant 1 : index
    %s = scf.for %i = %lo to %hi step %st iter_args(%a = %v) -> (f32) {
      %0 = annudf.load %w[%d] : !annudf.capture<dim x f32>
      %1 = arith.addf %a, %0 fastmath<reassoc, nsz, arcp, contract, afn> : f32
      scf.yield %1 : f32
    }
    annudf.yield %s : f32
  }
  annudf.finalize (%acc: f32) {
    %dims = annudf.index dims
    %0 = arith.index_cast %dims : index to i64
    %1 = arith.sitofp %0 : i64 to f32
    %2 = arith.divf %acc, %1 : f32
    annudf.yield %2 : f32
  }
}

// Loops at their limits.
annudf.metric @loops order(max) coarse(cosine) elements(u8) {
  annudf.init {
    %0 = arith.constant 0 : i32
    annudf.yield %0 : i32
  }
  annudf.update (%acc: i32, %x: i32, %y: i32) {
    // Bounds that meet run no iteration, whatever the step; the body counts once.
    %hi8 = arith.constant 100 : i8
    %st8 = arith.constant 27 : i8
    scf.for %i = %hi8 to %hi8 step %st8 : i8 {
    }
    // 254 is the last count before an unsigned i8 would wrap.
    %lo8 = arith.constant 0 : i8
    %u8 = arith.constant -2 : i8
    %one = arith.constant 1 : i8
    scf.for unsigned %i = %lo8 to %u8 step %one : i8 {
    }
    // With the 267 operations before and around it, 4096 in all.
    %lo = arith.constant 0 : i32
    %hi = arith.constant 3829 : i32
    %st = arith.constant 1 : i32
    scf.for %i = %lo to %hi step %st : i32 {
    }
    annudf.yield %acc : i32
  }
}

// Sixteen captures to bind, and any number with a value.
annudf.metric @_16 order(min) coarse(l2) elements(f32) dims(1048576) {
  %0 = annudf.capture "c0" : !annudf.capture<f32>
  %1 = annudf.capture "c1" : !annudf.capture<f32>
  %2 = annudf.capture "c2" : !annudf.capture<f32>
  %3 = annudf.capture "c3" : !annudf.capture<f32>
  %4 = annudf.capture "c4" : !annudf.capture<f32>
  %5 = annudf.capture "c5" : !annudf.capture<f32>
  %6 = annudf.capture "c6" : !annudf.capture<f32>
  %7 = annudf.capture "c7" : !annudf.capture<f32>
  %8 = annudf.capture "c8" : !annudf.capture<f32>
  %9 = annudf.capture "c9" : !annudf.capture<f32>
  %10 = annudf.capture "c10" : !annudf.capture<f32>
  %11 = annudf.capture "c11" : !annudf.capture<f32>
  %12 = annudf.capture "c12" : !annudf.capture<f32>
  %13 = annudf.capture "c13" : !annudf.capture<f32>
  %14 = annudf.capture "c14" : !annudf.capture<f32>
  %15 = annudf.capture "c15" : !annudf.capture<f32>
  %16 = annudf.capture "baked" = 1.0 : f32 : !annudf.capture<f32>
  annudf.init {
    %a = arith.constant 0.0 : f32
    annudf.yield %a : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    annudf.yield %acc : f32
  }
}

// What a filter may read; one with as many captures, and as long a name, as there may be, is as good.
annudf.filter @all_that_a_filter_reads dims(1048576) {
  %age = annudf.capture "age" : !annudf.capture<row x ui8>
  %known = annudf.capture "known" : !annudf.capture<256 x i1>
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.keep {
    %row = annudf.index row
    %list = annudf.index list
    %dims = annudf.index dims
    %a = annudf.load %age[%row] : !annudf.capture<row x ui8>
    %i = arith.index_castui %a : i8 to index
    %k = annudf.load %known[%i] : !annudf.capture<256 x i1>
    %one = arith.constant 1 : index
    %last = arith.subi %dims, %one : index
    %v = annudf.load %w[%last] : !annudf.capture<dim x f32>
    %f = func.call @fourth(%v) : (f32) -> f32
    %c = arith.cmpf olt, %v, %f : f32
    %r = scf.if %c -> (i1) {
      scf.yield %k : i1
    } else {
      %l = arith.cmpi ult, %list, %row : index
      scf.yield %l : i1
    }
    annudf.yield %r : i1
  }
}
