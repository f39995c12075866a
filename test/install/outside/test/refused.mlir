// What annudf refuses is said at the line of the op that was lowered.
// RUN: not dist-opt %s --convert-dist-to-annudf 2>&1 | FileCheck %s

// CHECK: refused.mlir:[[@LINE+1]]:1: error: 'annudf.capture' op [C1] has no name; give it one
dist.weighted_sum @unnamed power 2 weights "" order <min>
