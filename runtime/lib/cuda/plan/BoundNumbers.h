//===- BoundNumbers.h - Forms as Products.cu takes them ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no CUDA header, so that bounds are tested where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_PLAN_BOUNDNUMBERS_H
#define ANNUDF_RUNTIME_LIB_CUDA_PLAN_BOUNDNUMBERS_H

#include "kernels/cuda/common/ProductArgs.h"

#include "annudf/runtime/engine/BoundForm.h"
#include "annudf/runtime/engine/BoundRatio.h"

#include <optional>
#include <string>
#include <vector>

namespace annudf::runtime::cuda {

/// A form with captures, for rows less a shift.
struct BoundNumbers {
  bool isRatio = false; ///< Whether it is normalised.
  /// An annudf_matrix_dim, or annudf_matrix_ratio_dim, for each dimension.
  std::vector<double> dims;
  annudf_matrix_form form = {};   ///< But for the address of `dims`. One of these two.
  annudf_matrix_ratio ratio = {}; ///< The same.
  /// Whether its coefficients are computed for each query: then there are no numbers of dimensions.
  bool isOwn = false;
  std::vector<annudf_kernels::FormNode> nodes;
  annudf_matrix_own own = {}; ///< But for the address of `nodes`.
  float sign = 1;
  /// Among several fields, the one that bounds are of, and bits of those that are 0 beside it.
  uint32_t product = 0, zeros = 0;
};

/// Nothing where the form has no bounds for these captures, and `why`.
std::optional<BoundNumbers> numbersOf(const QuadraticForm &form, const BoundCaptures &captures,
                                      const std::vector<float> &shift, annudf_order order,
                                      std::string &why);

/// How squares of an index's coordinates, less a shift, are multiplied with these.
struct Squares {
  double square = 1, mostLength = 0; ///< As of annudf_matrix_own.
};
/// \param largest  of each list, the largest coordinate.
Squares squaresOf(std::vector<float> largest, int32_t dims);

/// As numbersOf, of a form that has coefficients of its own for each query.
std::optional<BoundNumbers> ownNumbersOf(const QuadraticForm &form, const BoundCaptures &captures,
                                         int32_t dims, const Squares &squares, annudf_order order,
                                         std::string &why);

BoundNumbers numbersOf(const BoundForm &form);
std::optional<BoundNumbers> numbersOf(const BoundRatio &ratio, const std::vector<float> &shift,
                                      std::string &why);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_PLAN_BOUNDNUMBERS_H
