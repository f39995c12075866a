//===- NewIndex.h - What a build refuses, wherever it runs ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWINDEX_H
#define ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWINDEX_H

#include "annudf/runtime/ivf_flat/Index.h"

namespace annudf::runtime {

/// Whatever can be told without looking at coordinates. \returns `params` with a number of lists.
/// \throws as Index::build.
IndexParams checkedParams(IndexParams params, const MatrixView &base);

/// \param firstRow  the number of the base's first.
/// \throws Error(Input) on a coordinate that is not finite, or infinite where NaN may be.
void checkBase(const MatrixView &base, const IndexParams &params, int64_t firstRow = 0);

/// \throws Error(Input) where there are fewer rows than lists.
void checkEnough(const MatrixView &base, uint32_t nLists);

/// \throws Error(Input) naming a center that overflowed.
void checkCenters(const std::vector<float> &centers, int32_t dims);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWINDEX_H
