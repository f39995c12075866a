//===- Extents.h - What says how long an axis of a capture is -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ABI_EXTENTS_H
#define ANNUDF_ABI_EXTENTS_H

#include "annudf/ABI/annudf_abi.h"

namespace annudf {

/// What says how many entries an axis has.
enum class ExtentBound {
  Number,  ///< The metric itself.
  Dims,    ///< The dims of the vectors.
  Rows,    ///< The ids of the index: one more than the largest.
  Queries, ///< The queries of the search.
};

/// No default: a new extent has to say here what bounds it.
constexpr ExtentBound boundBy(annudf_extent extent) {
  switch (extent) {
  case ANNUDF_EXTENT_CONSTANT:
    return ExtentBound::Number;
  case ANNUDF_EXTENT_DIM:
    return ExtentBound::Dims;
  case ANNUDF_EXTENT_ROW:
    return ExtentBound::Rows;
  case ANNUDF_EXTENT_QUERY:
    return ExtentBound::Queries;
  }
  return ExtentBound::Number;
}

/// Whether the axis can only be the first: the sizes of the others are factors of an entry's place,
/// and no hook knows how many rows or queries there are.
constexpr bool isFirstOnly(annudf_extent extent) {
  switch (boundBy(extent)) {
  case ExtentBound::Number:
  case ExtentBound::Dims:
    return false;
  case ExtentBound::Rows:
  case ExtentBound::Queries:
    return true;
  }
  return true;
}

} // namespace annudf

#endif // ANNUDF_ABI_EXTENTS_H
