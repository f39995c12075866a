//===- TeamTesting.h - Teams of backends against one ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_TEAMTESTING_H
#define ANNUDF_TEST_RUNTIME_TEAMTESTING_H

#include "RefineOwnTesting.h"
#include "runtime/TestData.h"

#include "annudf/runtime/engine/SearchTeam.h"

namespace annudf::test {

struct NamedTeam {
  std::string name;
  runtime::Backend *backend;
};

/// One search of a grid.
struct TeamCell {
  const runtime::Index &index;
  const runtime::Metric &metric;
  const reference::Vectors &queries;
  int k;
  runtime::SearchParams params;
};

using TeamSearch = std::function<FoundBits(runtime::Backend &, const TeamCell &)>;

inline FoundBits searchCell(runtime::Backend &backend, const TeamCell &cell) {
  FoundBits found;
  found.ids.assign(size_t(cell.queries.rows) * size_t(cell.k), -777);
  found.distances.assign(found.ids.size(), -777);
  backend.search(cell.index, cell.metric, bind(cell.metric, cell.queries.dims), view(cell.queries),
                 cell.k, cell.params, found.ids.data(), found.distances.data());
  return found;
}

inline constexpr int64_t kTeamRows = 700, kTeamQueries = 71;

/// An index as it was built, one that rows joined and left, and rows in one list: with tenants.
inline std::vector<OwnIndex> teamIndexes(const reference::Vectors &base) {
  std::vector<OwnIndex> all = ownIndexes(onHost(), base), some;
  for (OwnIndex &own : all)
    if (own.name == "rows" || own.name == "lists" || own.name == "changed") {
      addTenants(own);
      some.push_back(std::move(own));
    }
  return some;
}

/// Compares searches of teams with those of one backend, to the bit: metrics, element types,
/// indexes, filters, k and probes.
/// \param metricOf  of a name. \param filter  of code, that sees the query.
/// \returns how many searches were compared.
inline int checkTeams(runtime::Backend &one, const std::vector<NamedTeam> &teams,
                      const std::vector<TestMetric> &metrics,
                      const std::function<runtime::Metric(const TestMetric &)> &metricOf,
                      const std::shared_ptr<const runtime::Metric> &filter,
                      const TeamSearch &search = searchCell) {
  int compared = 0;
  std::vector<int32_t> mine(size_t(kTeamQueries), 0);
  for (size_t q = 0; q < mine.size(); ++q)
    mine[q] = int32_t(q % 4); // No row is of the last.
  for (const TestMetric &test : metrics) {
    const runtime::Metric metric = metricOf(test);
    const auto base = reference::randomVectors(test.elements.front(), kTeamRows, 24, 1);
    const auto queries = reference::randomVectors(test.elements.front(), kTeamQueries, 24, 2);
    for (const OwnIndex &own : teamIndexes(base)) {
      const auto bits = filterOf(own.index.rowExtent(), [](int64_t id) { return id % 3 != 0; });
      const auto code = tenantPredicate(filter, own.index, mine);
      for (const auto &[k, probes] : {std::pair(1, 3u), {10, 7u}, {400, 2u}})
        for (int filtered = 0; filtered < 3; ++filtered) {
          TeamCell cell{own.index, metric, queries, k, {}};
          cell.params.candidates = runtime::Lists{std::min(probes, own.index.nLists())};
          if (filtered == 1)
            cell.params.filter = bits;
          if (filtered == 2)
            cell.params.predicate = code;
          const FoundBits expected = search(one, cell);
          for (const NamedTeam &team : teams) {
            EXPECT_TRUE(search(*team.backend, cell) == expected)
                << test.name << ", " << own.name << ", k " << k << ", probes " << probes
                << ", filter " << filtered << ", " << team.name;
            ++compared;
          }
        }
    }
  }
  return compared;
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_TEAMTESTING_H
