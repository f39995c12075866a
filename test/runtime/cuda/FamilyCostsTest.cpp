//===- FamilyCostsTest.cpp - What families are expected to cost -----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"
#include "gtest/gtest.h"

namespace annudf::runtime::cuda {
namespace {

using test::chosen, test::kH200, test::workOf;

/// The rule that the cost model stands for, over all that matters: up to 512 MiB, of lists that are
/// short where they are many.
TEST(CudaFamilies, TheCostsAreThatRule) {
  for (uint32_t lists : {1u, 2u, 3u, 7u, 100u, 1024u, 65536u})
    for (uint32_t probes = 1; probes <= lists && probes <= 64; probes *= 2)
      for (int64_t queries : {1, 2, 3, 10, 100, 1535, 1536, 1537, 10000, 1000000}) {
        const bool tiles = double(queries) * probes >= 1.5 * lists;
        Workload work = workOf(queries, probes, lists);
        work.rows = std::min(work.rows, (int64_t(512) << 20) / work.rowBytes);
        EXPECT_EQ(chosen(work), tiles ? "tiles" : "pairs")
            << lists << " lists, " << probes << " probes, " << queries << " queries";
      }
}

/// With more rows, skipping lists that no query probes saves more than sorting the pairs costs.
TEST(CudaFamilies, TilesFromFewerQueriesOfMoreRows) {
  EXPECT_EQ(chosen(workOf(48, 32, 1024)), "tiles");
  EXPECT_EQ(chosen(workOf(47, 32, 1024)), "pairs");
  const auto first = [](uint32_t lists) {
    int64_t queries = 1;
    while (chosen(workOf(queries, 32, lists)) == "pairs")
      ++queries;
    return double(queries) * 32 / lists;
  };
  EXPECT_NEAR(first(2048), 1.21, 0.02);
  EXPECT_NEAR(first(8192), 0.87, 0.02);
  EXPECT_NEAR(first(65536), 0.73, 0.02);
}

/// Skipping lists that no query probes saves no more than a filter leaves to read.
TEST(CudaFamilies, EveryCostIsAboveZero) {
  for (const uint32_t lists : {16u, 1024u, 4096u, 65536u})
    for (const int64_t queries : {1, 10, 30, 1000, 100000})
      for (const double pass : {1.0, 0.1, 0.01, 0.0001, 0.0}) {
        Workload work = workOf(queries, 16, lists, 384);
        work.bodyBytes = 2000, work.rows = int64_t(lists) * 2441, work.pass = pass;
        work.packedDims = 96, work.noBounds = Reason::None, work.fusedAhead = true;
        for (const CudaFamily *family : families())
          EXPECT_GT(family->cost(work, kH200), 0)
              << family->name() << ", " << lists << " lists, " << queries << " queries, " << pass;
      }
  Workload few = workOf(1, 32, 4096, 384);
  few.rows = 10'000'000, few.pass = 0.01, few.bodyBytes = 2000;
  for (few.queries = 1; few.queries <= 10; ++few.queries)
    EXPECT_EQ(chosen(few), "pairs") << few.queries;
}

/// Where each query may find other rows, queries that share a read skip few groups.
TEST(CudaFamilies, AFilterByQueryHelpsPairsMost) {
  Workload work = workOf(200, 32, 1024);
  work.pass = 0.01;
  EXPECT_EQ(chosen(work), "tiles");
  work.passByQuery = true;
  const double pairs = work.groupsThatPass(32), tiles = work.groupsThatPass(32 * 6);
  EXPECT_NEAR(pairs, 0.275, 1e-3);
  EXPECT_NEAR(tiles, 0.855, 1e-3);
  const auto costOf = [&](const char *name) {
    const auto all = families();
    return (*std::find_if(
                all.begin(), all.end(),
                [&](const CudaFamily *family) { return family->name() == std::string_view(name); }))
        ->cost(work, kH200);
  };
  const double byQuery = costOf("tiles"), ofPairs = costOf("pairs");
  work.passByQuery = false;
  EXPECT_LT(costOf("tiles"), byQuery);
  EXPECT_EQ(costOf("pairs"), ofPairs);
  work.pass = 1, work.passByQuery = true; // Code says nothing of how many pass.
  const double all = costOf("tiles");
  work.passByQuery = false;
  EXPECT_EQ(costOf("tiles"), all);
}

TEST(CudaFamilies, BlocksThatStayHaveRoom) {
  constexpr uint64_t kStaged = ANNUDF_STAGED_SHARED_BYTES(ANNUDF_STAGED_TILE_QUERIES('a', 32)),
                     kPacked = ANNUDF_PACKED_SHARED_BYTES, kProducts = ANNUDF_MATRIX_SHARED_BYTES,
                     kByWarps = ANNUDF_MATRIX_MMA_SHARED_BYTES;
  const auto most = [](int kib) { return kib * 1024; };
  EXPECT_EQ(blocksWithRoom(kStaged, most(227)), 5u); // sm_90
  EXPECT_EQ(kStagedThreads / ANNUDF_STAGED_THREADS, 4u) << "launched where they have room";
  EXPECT_EQ(blocksWithRoom(kStaged, most(163)), 3u); // sm_80
  EXPECT_EQ(blocksWithRoom(kStaged, most(99)), 2u);  // sm_86, 89, 120
  EXPECT_EQ(blocksWithRoom(kPacked, most(227)), 2u);
  EXPECT_EQ(blocksWithRoom(kProducts, most(227)), 2u);
  EXPECT_EQ(blocksWithRoom(kByWarps, most(163)), 2u);
  EXPECT_EQ(blocksWithRoom(kByWarps, most(99)), 1u);
  EXPECT_EQ(blocksWithRoom(kByWarps, most(48)), 1u) << "it is refused before";
}

TEST(CudaFamilies, EveryRowsKeyTakesHalfOfTheIndexAtMost) {
  constexpr uint64_t kMiB = uint64_t(1) << 20;
  Workload work = workOf(10000, 32, 1024);
  Machine machine = kH200;
  EXPECT_EQ(workspaceOf(work, machine, true), 256 * kMiB);
  work.rows = 10'000'000, work.rowBytes = 384;
  EXPECT_EQ(workspaceOf(work, machine, true), 1'920'000'000u);
  EXPECT_EQ(workspaceOf(work, machine, false), 4096 * kMiB);
  work.rows *= 100;
  EXPECT_EQ(workspaceOf(work, machine, true), 4096 * kMiB) << "what is allowed at all";
  machine.workspaceBytes = 64 * kMiB, machine.workspaceIsAsked = true;
  EXPECT_EQ(workspaceOf(work, machine, true), 64 * kMiB) << "as asked";
}

/// Fewer of their blocks have room on a multiprocessor.
TEST(CudaFamilies, StagedFromFewerQueriesOfLongVectors) {
  const auto first = [](uint32_t rowBytes) {
    Workload work = workOf(1, 32, 512, rowBytes);
    work.rows = 512 * 1024 * 512 / rowBytes; // As many bytes of all.
    work.bodyBytes = 2000;
    while (chosen(work) != "staged")
      ++work.queries;
    return work.queriesPerRow();
  };
  EXPECT_NEAR(first(512), 21.4, 0.1);
  EXPECT_NEAR(first(4096), 8.9, 0.1);
}

} // namespace
} // namespace annudf::runtime::cuda
