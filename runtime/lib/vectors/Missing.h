//===- Missing.h - Coordinates that are not known ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A missing value is a NaN. Metrics see it; where lists are made and ranked, which needs a
// number for every coordinate, the mean of its dimension takes its place.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H
#define ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H

#include "annudf/runtime/vectors/Matrix.h"

#include <vector>

namespace annudf::runtime {

/// Of each dimension the mean of the values that are there, 0 where none is. The same for every
/// number of threads.
std::vector<float> meansOfPresent(const MatrixView &matrix, int threads);

/// Puts fill[d] where coordinate d of one of `count` rows is NaN; nothing if `fill` is empty.
void fillMissing(float *rows, int64_t count, const std::vector<float> &fill);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_VECTORS_MISSING_H
