//===- AgainstPairs.h - What a family finds against "pairs" -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H
#define ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H

#include "../AnswerTesting.h"
#include "CudaMetrics.h"

#include "annudf/runtime/cuda/Cuda.h"

#include <bit>
#include <string>

namespace annudf::test {

inline runtime::Index build(const reference::Vectors &base, uint32_t lists) {
  runtime::IndexParams params;
  params.nLists = lists;
  params.kmeansIterations = 5;
  params.kmeansTrainsetFraction = 1;
  return runtime::Index::build(params, view(base));
}

/// "" where the family finds what "pairs" does, ids and distances to the bit; else what differs.
inline std::string differenceFromPairs(runtime::Backend &backend, const runtime::Index &index,
                                       const runtime::Metric &metric,
                                       const runtime::BoundCaptures &captures,
                                       const reference::Vectors &queries, int k,
                                       runtime::SearchParams params, const char *family) {
  Answer answers[2];
  const char *const families[] = {"pairs", family};
  for (int i = 0; i < 2; ++i) {
    params.family = families[i];
    answers[i] = answerOf(backend, index, metric, captures, queries, k, params);
    if (answers[i].stats.family != families[i])
      return "was run by " + answers[i].stats.family;
  }
  const auto &[pairs, other] = answers;
  for (size_t i = 0; i < pairs.ids.size(); ++i)
    if (pairs.ids[i] != other.ids[i] ||
        std::bit_cast<uint32_t>(pairs.distances[i]) != std::bit_cast<uint32_t>(other.distances[i]))
      return "result " + std::to_string(i) + " is row " + std::to_string(other.ids[i]) + " at " +
             std::to_string(other.distances[i]) + ", not row " + std::to_string(pairs.ids[i]) +
             " at " + std::to_string(pairs.distances[i]);
  return "";
}
inline std::string differenceFromPairs(runtime::Backend &backend, const runtime::Index &index,
                                       const runtime::Metric &metric,
                                       const reference::Vectors &queries, int k,
                                       const runtime::SearchParams &params, const char *family) {
  return differenceFromPairs(backend, index, metric, bind(metric, queries.dims, queries.rows),
                             queries, k, params, family);
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_AGAINSTPAIRS_H
