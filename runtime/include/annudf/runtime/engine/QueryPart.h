//===- QueryPart.h - Some of the queries of a search ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_QUERYPART_H
#define ANNUDF_RUNTIME_ENGINE_QUERYPART_H

#include "annudf/runtime/engine/Search.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace annudf::runtime {

/// Some queries of a search: `count` of them, from `first` on, counted from 0.
struct QueryPart {
  int64_t first, count;
};

inline MatrixView partOf(const MatrixView &queries, const QueryPart &part) {
  return {static_cast<const std::byte *>(queries.data) +
              part.first * bytesOfRow(queries.element, queries.dims),
          part.count, queries.dims, queries.element};
}

/// Parameters for a part of so many queries: captures of queries are those of the whole search.
inline SearchParams partOf(const SearchParams &params, const QueryPart &part, int64_t queries) {
  SearchParams some = params;
  some.ofQueries = params.ofQueries ? params.ofQueries : params.firstQuery + queries;
  some.firstQuery = params.firstQuery + part.first;
  return some;
}

/// The same with the candidates of the part.
/// \param progress  to be told of.
inline SearchParams partWith(const SearchParams &params, const QueryPart &part, int64_t queries,
                             const Progress &progress) {
  SearchParams some = partOf(params, part, queries);
  if (auto *given = std::get_if<Given>(&some.candidates))
    given->lists += part.first * given->probes;
  some.progress = progress;
  return some;
}

/// Adds what the search of a part cost, with means by query; the kernels of the first part are
/// those that are told of. The share of rows that pass is that of the part.
/// \param share  of all queries.
inline void addPart(SearchStats &all, const SearchStats &part, double share) {
  const SearchStats before = all;
  addCost(all, part);
  if (!before.family.empty())
    all.family = before.family, all.why = before.why;
  all.rowsPerQuery = before.rowsPerQuery + part.rowsPerQuery * share;
  all.evaluatedPerQuery = before.evaluatedPerQuery + part.evaluatedPerQuery * share;
}

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_QUERYPART_H
