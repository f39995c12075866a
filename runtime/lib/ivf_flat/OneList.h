//===- OneList.h - Rows that are searched exactly ---------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All rows in one list need no k-means. Its center ranks nothing; products of rows and queries are
// taken less a point amid the rows, for which the mean of a few will do.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_IVF_FLAT_ONELIST_H
#define ANNUDF_RUNTIME_LIB_IVF_FLAT_ONELIST_H

#include "annudf/runtime/ivf_flat/Index.h"

#include <cstdint>
#include <vector>

namespace annudf::runtime {

/// Numbers of the rows that the center is made of: few, from all parts of the rows.
std::vector<uint32_t> rowsOfCenter(int64_t rows);
/// The mean of the values that are there, 0 where none is.
/// \param sample  `count` rows as floats, `stride` floats apart.
std::vector<float> centerOfRows(const float *sample, size_t count, size_t stride, int32_t dims);
/// The same of rows in host memory.
std::vector<float> centerOfRows(const MatrixView &rows);

/// What a build of these rows in one list refuses, but for coordinates; its parameters.
IndexParams paramsOfOneList(const MatrixView &rows, bool missingValues, int threads);
/// The largest id. \throws Error(Input) naming an id below 0, one that is repeated, or rows whose
/// ids would go beyond INT64_MAX.
int64_t checkIdsOfRows(const RowIds &ids, int64_t rows);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_IVF_FLAT_ONELIST_H
