//===- FilterCode.h - Filters that code computes ------------------*- C++ -*-===//
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
inline constexpr int64_t kMostFilterIds = ANNUDF_MAX_FILTER_IDS;

/// The rows that a filter keeps, an artifact of annudf.filter, of this state of the index. It is
/// linked into the scan in place of a metric's hooks, and scans all lists for one query.
/// \param captures  bound for the filter, this index and one query.
/// \param bits      of the filter, so that it can be joined with others; 0: one more than the
///                  index's largest id, which is the least.
/// \throws Error(Input) for an artifact that is no filter; Error(Usage) for a filter that sees the
/// query, which is a Predicate, for an index without rows, too few bits or more than
/// kMostFilterIds, or a filter of columns that keeps a row of an id and leaves out another; as
/// Backend::search().
RowFilter keptRows(Backend &backend, const RowStore &index, const MetricView &filter,
                   const BoundCaptures &captures, int64_t bits = 0, const Progress &progress = {});

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_FILTERCODE_H
