//===- ProbedRows.h - What lists that are probed hold -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_PROBEDROWS_H
#define ANNUDF_RUNTIME_ENGINE_PROBEDROWS_H

#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/rows/Candidates.h"
#include "annudf/runtime/rows/RowStore.h"

namespace annudf::runtime {

/// Rows of a list that a query probes, the mean. Lists that are ranked: where queries come as the
/// rows do, which is more than size() / nLists() where large lists are nearer to many queries than
/// small ones are; an estimate, by the lists that the centers of some would probe, looked at once a
/// state, metric and order. 0 where that would take long.
/// \param queries  of a table of lists (Given).
double rowsOfProbedList(const RowStore &index, const Candidates &candidates, int64_t queries,
                        annudf_coarse metric, annudf_order order);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_PROBEDROWS_H
