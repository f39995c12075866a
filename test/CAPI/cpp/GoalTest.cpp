//===- GoalTest.cpp - Searches with a goal in annudf.hpp ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include "annudf-c/annudf.h"

#include <vector>

using namespace cpp_api;
namespace ivf_flat = annudf::ivf_flat;
namespace brute_force = annudf::brute_force;

namespace {

using CppGoal = IndexedRamp;

TEST_F(CppGoal, QueriesGoOnAndGroups) {
  std::vector<bool> pass(100);
  for (size_t id = 0; id < pass.size(); id += 20)
    pass[id] = true;
  annudf::search_stats stats;
  const auto found = ivf_flat::search(index, rows, 3,
                                      {.n_probes = 1,
                                       .filter = annudf::filter::from_bools(pass),
                                       .stats = &stats,
                                       .max_probes = 5,
                                       .min_rows = 5});
  EXPECT_EQ(stats.widened, 100);
  for (const std::int64_t id : found.neighbors)
    EXPECT_EQ(id % 20, 0);
  annudf::search_stats second;
  const auto refined =
      ivf_flat::search(index, rows, 3, {.n_probes = 5, .refine = {metric, 100, &second}});
  EXPECT_EQ(refined.neighbors,
            ivf_flat::search(index, rows, 3, {.n_probes = 5, .metric = metric}).neighbors);
  EXPECT_EQ(second.scored, 100 * 100);
  std::vector<std::int64_t> group(100);
  for (size_t id = 0; id < group.size(); ++id)
    group[id] = std::int64_t(id % 5);
  const auto best = brute_force::knn(rows, rows, 5, {.group_by = {.of = group}});
  EXPECT_EQ(best.neighbors,
            ivf_flat::search(index, rows, 5, {.n_probes = 5, .group_by = {.of = group}}).neighbors);
  for (std::int64_t q = 0; q < 100; ++q) {
    std::int64_t seen = 0;
    for (const std::int64_t id : best.neighbors.row(q))
      seen |= std::int64_t(1) << (id % 5);
    ASSERT_EQ(seen, 31) << q;
  }
}

} // namespace
