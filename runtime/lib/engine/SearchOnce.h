//===- SearchOnce.h - One search of several ---------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_ENGINE_SEARCHONCE_H
#define ANNUDF_RUNTIME_LIB_ENGINE_SEARCHONCE_H

#include "annudf/runtime/engine/Search.h"

#include <cstdint>
#include <vector>

namespace annudf::runtime {

/// What a search found: queries x k.
struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

/// The k best of each query's candidates. Adds what it cost to `stats`, if that is not null.
inline Found searchOnce(Backend &backend, const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries, int k,
                        const SearchParams &params, SearchStats *stats) {
  checkSearch(index, metric, queries, k, params); // Before there is room for what it finds.
  Found found;
  found.ids.resize(static_cast<size_t>(queries.rows) * static_cast<size_t>(k));
  found.distances.resize(found.ids.size());
  SearchStats cost;
  backend.search(index, metric, captures, queries, k, params, found.ids.data(),
                 found.distances.data(), stats ? &cost : nullptr);
  if (stats)
    addCost(*stats, cost);
  return found;
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_ENGINE_SEARCHONCE_H
