//===- AgainstPairs.h - What a family finds against "pairs" -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H
#define ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H

#include "CudaMetrics.h"

#include "annudf/runtime/cuda/Cuda.h"

#include <bit>
#include <string>

namespace annudf::test {

/// "" where the family finds what "pairs" does, ids and distances to the bit; else what differs.
inline std::string differenceFromPairs(runtime::Backend &backend, const runtime::Index &index,
                                       const runtime::Metric &metric,
                                       const reference::Vectors &queries, int k,
                                       runtime::SearchParams params, const char *family) {
  std::vector<int64_t> ids[2];
  std::vector<float> distances[2];
  const char *const families[] = {"pairs", family};
  for (int i = 0; i < 2; ++i) {
    ids[i].assign(size_t(queries.rows) * size_t(k), -777);
    distances[i].assign(size_t(queries.rows) * size_t(k), -777.0F);
    params.family = families[i];
    runtime::SearchStats stats;
    backend.search(index, metric, bind(metric, queries.dims), view(queries), k, params,
                   ids[i].data(), distances[i].data(), &stats);
    if (stats.family != families[i])
      return "was run by " + stats.family;
  }
  for (size_t i = 0; i < ids[0].size(); ++i)
    if (ids[0][i] != ids[1][i] ||
        std::bit_cast<uint32_t>(distances[0][i]) != std::bit_cast<uint32_t>(distances[1][i]))
      return "result " + std::to_string(i) + " is row " + std::to_string(ids[1][i]) + " at " +
             std::to_string(distances[1][i]) + ", not row " + std::to_string(ids[0][i]) + " at " +
             std::to_string(distances[0][i]);
  return "";
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H
