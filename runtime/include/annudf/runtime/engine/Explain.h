//===- Explain.h - How a metric comes to a distance ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_EXPLAIN_H
#define ANNUDF_RUNTIME_ENGINE_EXPLAIN_H

#include "annudf/runtime/engine/Search.h"

#include <cstdint>
#include <string>
#include <vector>

namespace annudf::runtime {

/// The accumulator of one query and row after init and after each dimension, and the distance.
struct Explanation {
  std::vector<annudf_accumulator> fields; ///< One where the accumulator is no struct.
  std::vector<uint64_t> bits;             ///< (dims + 1) x fields, each in the lowest bits.
  float distance = 0;

  int64_t steps() const { return static_cast<int64_t>(bits.size() / fields.size()); }
  /// A field as a number; an i64 may be rounded.
  double value(int64_t step, size_t field) const;
  /// The first dimension after which a field is NaN; -1: it is NaN from init on; the number of
  /// dimensions: none is, or finalize alone makes NaN.
  int64_t firstNan() const;
  /// "dimension 3 turns the accumulator NaN".
  std::string nanText() const;
};

/// Which pair it is, as hooks are told.
struct PairNumbers {
  int64_t query = 0, row = 0, list = 0;
};

/// Runs the hooks as a CPU's scan is linked with them, one dimension at a time.
/// \param query, row  one vector each, of element types that the metric accepts.
/// \throws Error(Usage or Input) for arguments that a search would refuse, as compileScan, and
/// Error(Environment) when built without LLVM.
Explanation explain(const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &query, const MatrixView &row, const PairNumbers &pair = {});

/// "query 3, row 17: dimension 5 turns the accumulator NaN": the example that a search met, or only
/// the pair where that cannot be found out, as of code for GPUs.
/// \param queries  those of the search, in host memory; the first has number 0.
std::string nanExample(const RowStore &index, const MetricView &metric,
                       const BoundCaptures &captures, const MatrixView &queries,
                       const SearchStats &stats);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_EXPLAIN_H
