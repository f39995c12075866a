# Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the frontend form of a metric whose function is a chain of as many elif as the argument says."""

import sys

count = int(sys.argv[1])
print("func.func private @f(%x: f32, %y: f32) -> f32 {")
for i in range(count):
    print(f"  %c{i} = arith.constant {i}.0 : f32\n  %b{i} = arith.cmpf olt, %x, %c{i} : f32")
    print(f"  cf.cond_br %b{i}, ^yes{i}, ^no{i}\n^yes{i}:")
    print(f"  %r{i} = arith.mulf %y, %c{i} : f32\n  return %r{i} : f32\n^no{i}:")
print("""\
  return %y : f32
}
annudf.metric @chain order(min) coarse(l2) elements(f32) {
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %r = func.call @f(%x, %y) : (f32, f32) -> f32
    annudf.yield %r : f32
  }
}""")
