//===- BoundNodes.h - Coefficients of a form as numbers -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a form says comes from a file, so nothing of it is taken to be well-formed.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H
#define ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H

#include "annudf/Artifact/Form.h"
#include "annudf/runtime/captures/Captures.h"

#include "../../kernels/FormTerms.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime::bounds {

using annudf_kernels::FormNode;
using annudf_kernels::FormPolynomials;
using annudf_kernels::Real;
using annudf_kernels::Upper;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Why a form cannot be bound.
struct CannotBind {
  std::string why;
};

[[noreturn]] inline void refuse(std::string why) { throw CannotBind{std::move(why)}; }

/// Where the captures' entries are that a form may read.
enum class Entries {
  OfAnyQuery, ///< In the host's memory, the same for each query.
  OfQueries   ///< Anywhere, and each query may have its own: what a device computes with.
};

/// A form's nodes, each checked against the captures. \throws CannotBind
std::vector<FormNode> nodesOf(const QuadraticForm &form, const BoundCaptures &captures,
                              int32_t dims, Entries entries);

/// Its polynomials, of nodes that there are, and what update loses over so many dimensions.
/// \throws CannotBind
FormPolynomials polynomialsOf(const QuadraticForm &form, int32_t dims);

/// 1, or -1 where a larger accumulator is better.
double signOf(const QuadraticForm &form, annudf_order order);
/// The limit of `largest`: beyond it a form says nothing.
double limitOf(const QuadraticForm &form);

/// The nodes of a form, evaluated for one dimension after another.
class Nodes {
public:
  Nodes(const QuadraticForm &form, const BoundCaptures &captures, int32_t dims)
      : nodes_(nodesOf(form, captures, dims, Entries::OfAnyQuery)), captures_(captures),
        values_(nodes_.size()) {}

  void evaluate(int32_t dim);
  Real operator[](uint32_t node) const { return values_[node]; }

private:
  const std::vector<FormNode> nodes_;
  const BoundCaptures &captures_;
  std::vector<Real> values_;
};

/// E - 1 of Form.h, for `roundings` and `accumulations` of each dimension.
Upper growthOf(const Roundings &roundings, uint32_t accumulations, int32_t dims);

} // namespace annudf::runtime::bounds

#endif // ANNUDF_RUNTIME_LIB_ENGINE_BOUNDNODES_H
