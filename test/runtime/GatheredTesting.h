//===- GatheredTesting.h - Searches of the rows alone that pass -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What they find is compared, to the bit, with the search of all lists.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_GATHEREDTESTING_H
#define ANNUDF_TEST_RUNTIME_GATHEREDTESTING_H

#include "FilterTesting.h"
#include "RefineOwnTesting.h"

#include <cstdlib>
#include <cstring>

namespace annudf::test {

constexpr int64_t kGatheredRows = 3000;

/// What the environment asks for while it lives.
class Gather {
public:
  explicit Gather(bool is) { ::setenv("ANNUDF_GATHER", is ? "1" : "0", 1); }
  ~Gather() { ::unsetenv("ANNUDF_GATHER"); }
  Gather(const Gather &) = delete;
  Gather &operator=(const Gather &) = delete;
};

struct GatheredAnswer {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  runtime::SearchStats stats;
};

/// Poisoned before, so that an entry that nobody wrote is seen.
inline GatheredAnswer answerFrom(runtime::Backend &backend, const runtime::Index &index,
                                 const runtime::Metric &metric, const reference::Vectors &queries,
                                 int k, const runtime::SearchParams &params) {
  const size_t cells = size_t(queries.rows) * size_t(k);
  GatheredAnswer answer = {std::vector<int64_t>(cells, -777), std::vector<float>(cells, -777), {}};
  backend.search(index, metric, bind(metric, queries.dims, queries.rows), view(queries), k, params,
                 answer.ids.data(), answer.distances.data(), &answer.stats);
  return answer;
}

inline bool isGathered(const GatheredAnswer &answer) {
  return answer.stats.why.find("% of rows pass and are gathered") != std::string::npos;
}

inline void expectSame(const GatheredAnswer &lists, const GatheredAnswer &gathered) {
  EXPECT_FALSE(isGathered(lists)) << lists.stats.why;
  EXPECT_TRUE(isGathered(gathered)) << gathered.stats.why;
  ASSERT_EQ(gathered.ids, lists.ids);
  ASSERT_EQ(0, std::memcmp(gathered.distances.data(), lists.distances.data(),
                           lists.distances.size() * sizeof(float)));
  EXPECT_EQ(gathered.stats.passingShare, lists.stats.passingShare);
}

/// No row, one, a few, half, and all but one.
inline std::vector<std::shared_ptr<const runtime::RowFilter>> filtersOf(const OwnIndex &own) {
  const int64_t bits = own.index.rowExtent();
  std::mt19937 random(5);
  return {filterOf(bits, [](int64_t) { return false; }),
          filterOf(bits, [&](int64_t id) { return id == own.ids[1]; }),
          filterOf(bits, [&](int64_t) { return random() % 100 == 0; }),
          filterOf(bits, [&](int64_t) { return random() % 2; }),
          filterOf(bits, [&](int64_t id) { return id != own.ids[0]; })};
}

inline void compareGathered(runtime::Backend &backend, const runtime::Metric &metric,
                            annudf_element element, int32_t dims,
                            const std::vector<std::string> &families) {
  const auto base = reference::randomVectors(element, kGatheredRows, dims, 7);
  for (const OwnIndex &own : ownIndexes(onHost(), base)) {
    if (own.index.rowExtent() > 10 * kGatheredRows)
      continue; // No filter has so many bits.
    for (const auto &filter : filtersOf(own))
      for (const std::string &family : families)
        for (const int64_t count : {1, 70}) {
          SCOPED_TRACE(own.name + ", " + family + ", " + std::to_string(filter->count()) + " of " +
                       std::to_string(own.index.size()));
          const auto queries = reference::randomVectors(element, count, dims, 8);
          for (const int k : {1, 10, 100}) {
            const runtime::SearchParams params = {.filter = filter, .family = family};
            const auto search = [&] {
              return answerFrom(backend, own.index, metric, queries, k, params);
            };
            const GatheredAnswer lists = (Gather(false), search()),
                                 gathered = (Gather(true), search());
            expectSame(lists, gathered);
            if (testing::Test::HasFatalFailure())
              return;
            const auto passing =
                std::ranges::count_if(own.ids, [&](int64_t id) { return filter->passes(id); });
            EXPECT_EQ(gathered.stats.scored, count * passing);
          }
        }
  }
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_GATHEREDTESTING_H
