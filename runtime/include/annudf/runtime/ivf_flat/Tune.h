//===- Tune.h - The probes that a recall needs ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_IVF_FLAT_TUNE_H
#define ANNUDF_RUNTIME_IVF_FLAT_TUNE_H

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cstdint>

namespace annudf::runtime {

/// The fewest probes with which these queries' k best have the recall, measured against a search of
/// all lists; rows as near as the last true neighbour count as found. What more lists find is never
/// worse, so it is found by halving.
/// \param recall  part of the true neighbours that must be found, above 0 and at most 1.
/// \param params  its candidates do not matter.
/// \param stats   of all its searches together.
/// \throws as Backend::search, and Error(Usage) for a recall that is none.
uint32_t tuneProbes(Backend &backend, const Index &index, const MetricView &metric,
                    const BoundCaptures &captures, const MatrixView &queries, int k, double recall,
                    const SearchParams &params, SearchStats *stats = nullptr);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_IVF_FLAT_TUNE_H
