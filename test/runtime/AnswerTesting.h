//===- AnswerTesting.h - What a search writes -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_ANSWERTESTING_H
#define ANNUDF_TEST_RUNTIME_ANSWERTESTING_H

#include "cpu/TestMetrics.h"

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <vector>

namespace annudf::test {

struct Answer {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  runtime::SearchStats stats;
};

/// Poisoned before, so that an entry that nobody wrote is seen.
inline Answer answerOf(runtime::Backend &backend, const runtime::Index &index,
                       const runtime::Metric &metric, const runtime::BoundCaptures &captures,
                       const reference::Vectors &queries, int k,
                       const runtime::SearchParams &params) {
  const size_t cells = size_t(queries.rows) * size_t(k);
  Answer answer = {std::vector<int64_t>(cells, -777), std::vector<float>(cells, -777.0F), {}};
  backend.search(index, metric, captures, view(queries), k, params, answer.ids.data(),
                 answer.distances.data(), &answer.stats);
  return answer;
}
inline Answer answerOf(runtime::Backend &backend, const runtime::Index &index,
                       const runtime::Metric &metric, const reference::Vectors &queries, int k,
                       const runtime::SearchParams &params) {
  return answerOf(backend, index, metric, bind(metric, queries.dims, queries.rows), queries, k,
                  params);
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_ANSWERTESTING_H
