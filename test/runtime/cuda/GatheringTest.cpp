//===- GatheringTest.cpp - When rows that pass are scanned alone ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "cuda/plan/Gathering.h"

#include "annudf/Support/Error.h"

#include <cstdlib>

namespace annudf::runtime::cuda {
namespace {

using test::kH200, test::workOf;

/// All of 1,024 lists, by a metric with small hooks.
Workload filtered(int64_t queries, double pass, bool isProved = false) {
  Workload work = workOf(queries, 1024, 1024);
  work.bodyBytes = 2000, work.pass = pass;
  if (isProved)
    work.noBounds = Reason::None;
  return work;
}

std::optional<Workload> gathered(const Workload &work, bool isMade = false,
                                 const Machine &machine = kH200) {
  return worthGathering(kernelFamilies(), work, machine, isMade);
}

TEST(CudaGathering, OfFewRowsForManyQueries) {
  for (const bool isProved : {false, true}) {
    SCOPED_TRACE(isProved);
    EXPECT_TRUE(gathered(filtered(1000, 0.001, isProved)));
    EXPECT_TRUE(gathered(filtered(1000, 0, isProved)));
    EXPECT_FALSE(gathered(filtered(1, 0.001, isProved)));
    EXPECT_FALSE(gathered(filtered(1, 0.001, isProved), true));
    EXPECT_FALSE(gathered(filtered(1000, 1, isProved)));
  }
  // Products of all rows take as long as the hooks of about 14 % of them.
  EXPECT_TRUE(gathered(filtered(1000, 0.1, true)));
  EXPECT_FALSE(gathered(filtered(1000, 0.2, true)));
  EXPECT_TRUE(gathered(filtered(1000, 0.5)));
}

// A filter that comes again is worth it for fewer queries.
TEST(CudaGathering, CountsWhatIsMadeOnce) {
  const auto fewest = [](bool isMade) {
    int64_t queries = 1;
    while (!gathered(filtered(queries, 0.001), isMade))
      ++queries;
    return queries;
  };
  EXPECT_LT(fewest(true), fewest(false));
}

TEST(CudaGathering, TakesNoMoreMemoryThanAWorkspace) {
  Machine small = kH200;
  small.workspaceBytes = uint64_t(64) << 20;
  EXPECT_TRUE(gathered(filtered(1000, 0.1), false, small));
  EXPECT_FALSE(gathered(filtered(1000, 0.2), false, small));
  Machine unknown = kH200;
  unknown.memoryBytesPerMs = 0;
  EXPECT_FALSE(gathered(filtered(1000, 0.001), false, unknown));
}

TEST(CudaGathering, IsOneListWithoutAFilter) {
  const Workload work = *gathered(filtered(1000, 0.001, true));
  EXPECT_EQ(work.rows, 1024);
  EXPECT_EQ(work.lists, 1u);
  EXPECT_EQ(work.probes, 1u);
  EXPECT_EQ(work.pairs() * work.probedRows, 1024e3);
  EXPECT_EQ(work.queriesPerRow(), 1000);
  EXPECT_EQ(work.passingShare(), 0.001);
  EXPECT_EQ(textOf(test::planOf(work)), "1e+03 queries a list: up to 32 share a stage of rows, "
                                        "0.1 % of rows pass and are gathered");
}

TEST(CudaGathering, OnlyWhereTheNamedFamilyCan) {
  Workload work = filtered(1000, 0.001, true);
  work.family = "tiles";
  EXPECT_TRUE(gathered(work));
  work.family = "matrix";
  EXPECT_FALSE(gathered(work));
  EXPECT_EQ(textOf(Reason::Gathered), "gathered rows are not converted for products");
}

TEST(CudaGathering, AsTheEnvironmentSays) {
  ::setenv("ANNUDF_GATHER", "0", 1);
  EXPECT_FALSE(gathered(filtered(1000, 0.001)));
  ::setenv("ANNUDF_GATHER", "1", 1);
  EXPECT_TRUE(gathered(filtered(1, 0.9)));
  EXPECT_FALSE(gathered(filtered(1, 1)));
  ::setenv("ANNUDF_GATHER", "yes", 1);
  EXPECT_THROW((void)gathered(filtered(1, 0.9)), Error);
  ::unsetenv("ANNUDF_GATHER");
}

} // namespace
} // namespace annudf::runtime::cuda
