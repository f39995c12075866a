//===- FilterCode.h - Filters that a metric computes --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_FILTERCODE_H
#define ANNUDF_RUNTIME_ENGINE_FILTERCODE_H

#include "annudf/runtime/engine/Search.h"

namespace annudf::runtime {

/// Most bits of a filter that is computed: 4 GiB of them.
inline constexpr int64_t kMostFilterIds = int64_t(1) << 35;

/// The rows to which the metric gives a distance from a query of zeros that is not NaN: a predicate
/// as code, whose finalize is NaN where a row is to be left out. Of this state of the index.
/// \param captures  bound for the metric, this index and one query.
/// \param bits      of the filter, so that it can be joined with others; 0: one more than the
///                  index's largest id, which is the least.
/// \throws Error(Usage) for an index without rows, too few bits or more than kMostFilterIds; as
/// Backend::search().
RowFilter rowsWithDistance(Backend &backend, const Index &index, const MetricView &metric,
                           const BoundCaptures &captures, int64_t bits = 0,
                           const Progress &progress = {});

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_FILTERCODE_H
