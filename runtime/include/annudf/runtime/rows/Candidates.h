//===- Candidates.h - Which rows are scored for a query ---------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index kind is a store of rows and a way to make candidates. A search knows the candidates
// alone, never the kind.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ROWS_CANDIDATES_H
#define ANNUDF_RUNTIME_ROWS_CANDIDATES_H

#include <cstdint>
#include <variant>

namespace annudf::runtime {

class RowStore;

/// Every row of the store.
struct All {};

/// The rows of the lists whose centers (RowStore::listCenters) are the best for a query, by the
/// metric's coarse metric and order.
struct Lists {
  uint32_t probes;
};

/// The rows of lists that the caller names for each query.
struct Given {
  /// One row of `probes` list numbers a query, each number once in a row. Host memory, read until
  /// the call returns. On a CPU a row had better begin with the list that promises most.
  const uint32_t *lists;
  uint32_t probes;
};

using Candidates = std::variant<All, Lists, Given>;

/// Lists that are scanned for a query.
uint32_t probesOf(const RowStore &store, const Candidates &candidates);

/// Whether centers choose the lists: they do not where all lists are asked for.
bool areRanked(const RowStore &store, const Candidates &candidates);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ROWS_CANDIDATES_H
