//===- WeightedMetric.h - A small metric with a capture ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_COMPILER_WEIGHTEDMETRIC_H
#define ANNUDF_TEST_COMPILER_WEIGHTEDMETRIC_H

namespace annudf::test {

/// L2 with a weight for each dim, "w".
inline constexpr const char *kWeighted =
    R"(annudf.metric @weighted order(min) coarse(l2) elements(f32) {
  %w = annudf.capture "w" : !annudf.capture<dim x f32>
  annudf.init {
    %0 = arith.constant 0.0 : f32
    annudf.yield %0 : f32
  }
  annudf.update (%acc: f32, %x: f32, %y: f32) {
    %i = annudf.index dim
    %1 = annudf.load %w[%i] : !annudf.capture<dim x f32>
    %2 = arith.subf %x, %y : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = math.fma %3, %1, %acc : f32
    annudf.yield %4 : f32
  }
})";

} // namespace annudf::test

#endif // ANNUDF_TEST_COMPILER_WEIGHTEDMETRIC_H
