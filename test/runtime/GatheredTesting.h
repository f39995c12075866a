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

#include "AnswerTesting.h"
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

inline bool isGathered(const Answer &answer) {
  return answer.stats.why.find("% of rows pass and are gathered") != std::string::npos;
}

inline void expectSame(const Answer &lists, const Answer &gathered) {
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
              return answerOf(backend, own.index, metric, queries, k, params);
            };
            const Answer lists = (Gather(false), search()), gathered = (Gather(true), search());
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

/// The lists are scanned where some of 16 are not probed, where all rows pass, and where queries
/// find different rows.
/// \param isGatheredFor  of a search with these parameters.
template <class IsGathered>
void expectListsAreScanned(IsGathered isGatheredFor,
                           const std::shared_ptr<const runtime::RowFilter> &filter,
                           int64_t queries) {
  EXPECT_FALSE(isGatheredFor({.candidates = runtime::Lists{15}, .filter = filter}));
  EXPECT_FALSE(isGatheredFor({.filter = filterOf(kGatheredRows, [](int64_t) { return true; })}));
  const auto byQuery = predicateOf({bitmapOf(
      queries, kGatheredRows, [](int64_t query, int64_t row) { return row % 7 == query % 7; })});
  EXPECT_FALSE(isGatheredFor({.filter = filter, .predicate = byQuery}));
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_GATHEREDTESTING_H
