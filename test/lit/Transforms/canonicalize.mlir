// LLVM 22's canonicalizer crashes on a comparison that asks nothing, of a converted integer and a constant. The dialect's
// own pattern comes first, also where the module has no operation of annudf.
// RUN: annudf-opt %s --inline --canonicalize | FileCheck %s
// RUN: annudf-opt %s --inline | FileCheck %s --check-prefix=HELPER
// RUN: sed -n '/^func/,/^}/p' %s | annudf-opt --canonicalize | FileCheck %s --check-prefix=HELPER

// HELPER-LABEL: func.func private @choose
// HELPER-NEXT: return %arg1, %arg0 : f32, f32
func.func private @choose(%a: f32, %b: f32, %byte: i8) -> (f32, f32) {
  %limit = arith.constant 1.5 : f32
  %number = arith.sitofp %byte : i8 to f32
  %never = arith.cmpf false, %number, %limit : f32
  %always = arith.cmpf true, %number, %limit : f32
  %first = arith.select %never, %a, %b : f32
  %second = arith.select %always, %a, %b : f32
  return %first, %second : f32, f32
}
annudf.metric @m order(min) coarse(l2) elements(u8) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  // CHECK-LABEL: annudf.update
  annudf.update (%acc: f32, %x: i32, %y: i32) {
    // CHECK-NOT: arith.cmpf
    %limit = arith.constant 1.5 : f32
    %byte = arith.trunci %x : i32 to i8
    %number = arith.uitofp %byte : i8 to f32
    %always = arith.cmpf true, %number, %limit : f32
    %next = arith.select %always, %number, %acc : f32
    %both:2 = func.call @choose(%next, %acc, %byte) : (f32, f32, i8) -> (f32, f32)
    %r = arith.addf %both#0, %both#1 : f32
    annudf.yield %r : f32
  }
}
