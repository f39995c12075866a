//===- BatchTest.cpp - Sizes of batches, without a GPU --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/search/Workspace.h"

#include "Support/TestFiles.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

using namespace annudf::runtime::cuda;

namespace {

constexpr uint64_t kLimit = uint64_t(1) << 30;

/// `rows` spread evenly over `lists`; a query scans `probes` of them.
BatchShape evenShape(uint64_t lists, uint64_t probes, uint64_t rows) {
  BatchShape shape;
  shape.lists = lists, shape.probes = probes;
  shape.groups = std::max<uint64_t>(1, probes * ((rows / lists + 31) / 32));
  shape.allGroups = lists * ((rows / lists + 31) / 32), shape.dims = 128;
  shape.tiling = {.queries = 64, .segmentGroups = 32, .coordinates = true};
  return shape;
}

uint64_t bytesOf(BatchShape shape, uint64_t queries) {
  shape.queries = queries;
  return workspaceBytes(shape);
}

std::string words(const BatchShape &shape) {
  return std::to_string(shape.lists) + " lists, " + std::to_string(shape.probes) + " probes, " +
         std::to_string(shape.groups) + " groups";
}

/// With no end of queries a batch is the largest that fits.
void expectLargest(const BatchShape &shape) {
  const uint64_t batch = batchQueries(shape, uint64_t(1) << 62, kLimit);
  ASSERT_GE(batch, 1u) << words(shape);
  ASSERT_LE(batch, kMostQueries) << words(shape);
  if (batch > 1) {
    EXPECT_LE(bytesOf(shape, batch), kLimit) << words(shape);
  }
  if (batch < kMostQueries) {
    EXPECT_GT(bytesOf(shape, batch + 1), kLimit) << words(shape);
  }
}

/// By hand: tiles of 128 rows have 144 floats, and each list may end within one.
TEST(CudaBatch, AFilterTakesTheTermsOfTheIndexByProductsAlone) {
  BatchShape all = evenShape(1000, 32, 1'000'000), filtered = all;
  filtered.isFiltered = true;
  EXPECT_EQ(bytesOf(filtered, 100), bytesOf(all, 100));
  all.tiling = filtered.tiling = {.queries = 128, .segmentGroups = 32, .bounds = true, .panels = 2};
  EXPECT_EQ(bytesOf(filtered, 100) - bytesOf(all, 100), 9000u * 144 * 4);
  EXPECT_EQ(bytesOf(filtered, 1) - bytesOf(all, 1), 9000u * 144 * 4);
}

/// By hand: a word for each query and group, for each result that is there at once.
TEST(CudaBatch, APredicateTakesAWordForEachGroup) {
  const BatchShape all = evenShape(1000, 32, 1'000'000);
  for (const uint64_t depth : {1, 3}) {
    BatchShape filtered = all;
    filtered.depth = depth;
    EXPECT_EQ(bytesOf(filtered, 64) - bytesOf(all, 64), depth * 64 * all.groups * 4);
  }
}

TEST(CudaBatch, FitsTheLimitAndIsAsLargeAsItAllows) {
  for (uint64_t lists : {1, 2, 100, 1024, 4096, 16384, 65536, 1 << 20})
    for (uint64_t probes : {1, 2, 4, 16, 32, 64, 1024, 65536})
      for (uint64_t rows : {1ull, 1000ull, 1000000ull, 100000000ull, 4000000000ull}) {
        if (probes > lists)
          continue;
        const BatchShape shape = evenShape(lists, probes, rows);
        expectLargest(shape);
        for (uint64_t queries : {0, 1, 2, 16, 1000, 1000000}) {
          const uint64_t batch = batchQueries(shape, queries, kLimit);
          ASSERT_GE(batch, 1u) << words(shape);
          ASSERT_LE(batch, std::max<uint64_t>(1, queries)) << words(shape);
          if (batch > 1) {
            EXPECT_LE(bytesOf(shape, batch), kLimit) << words(shape) << ", " << queries;
          }
          if (queries && bytesOf(shape, queries) <= kLimit) {
            EXPECT_EQ(batch, queries) << words(shape);
          }
        }
      }
}

/// Many lists and few probes: lists weigh more than pairs.
TEST(CudaBatch, ManyListsDoNotMakeBatchesOfOne) {
  struct {
    uint64_t lists, probes, rows, atLeast;
  } cases[] = {{4096, 1, 1000000, 50000},  {4096, 4, 1000000, 40000},   {16384, 16, 1000000, 8000},
               {16384, 32, 1000000, 6000}, {65536, 1, 1000000, 4000},   {65536, 64, 1000000, 3500},
               {65536, 1, 1000, 4000},     {65536, 64, 10000000, 3000}, {1 << 20, 1, 1000000, 250}};
  for (const auto &c : cases) {
    const BatchShape shape = evenShape(c.lists, c.probes, c.rows);
    expectLargest(shape);
    EXPECT_GE(batchQueries(shape, 1000000, kLimit), c.atLeast) << words(shape);
    EXPECT_EQ(batchQueries(shape, c.atLeast, kLimit), c.atLeast) << "one batch: " << words(shape);
  }
}

TEST(CudaBatch, BatchesAreEqual) {
  const BatchShape shape = evenShape(4096, 4, 1000000);
  const uint64_t most = batchQueries(shape, uint64_t(1) << 62, kLimit);
  EXPECT_EQ(batchQueries(shape, most, kLimit), most);
  EXPECT_EQ(batchQueries(shape, most + 1, kLimit), (most + 2) / 2);
  // Those of a search from host memory, too, whose results are copied in pieces.
  EXPECT_EQ(batchQueries(shape, most, kLimit, most - 1), (most + 1) / 2);
  EXPECT_EQ(batchQueries(shape, most, kLimit, 1), 1u);
}

TEST(CudaBatch, PairsAreCountedIn32Bits) {
  const BatchShape shape = evenShape(1 << 20, 1 << 16, 1'000'000);
  const uint64_t most = batchQueries(shape, uint64_t(1) << 40, kNoWorkspace - 1);
  EXPECT_LE(most * shape.probes, uint64_t(std::numeric_limits<uint32_t>::max()));
  EXPECT_GT(most, 60'000u);
}

TEST(CudaBatch, AQueryLargerThanTheLimitGoesAlone) {
  BatchShape shape = evenShape(1024, 1024, 4000000000);
  ASSERT_GT(bytesOf(shape, 1), kLimit);
  EXPECT_EQ(batchQueries(shape, 1000, kLimit), 1u);
  EXPECT_EQ(batchQueries(shape, 1000, 0), 1u);
}

/// An index so small that a grid's bound comes before the memory's.
TEST(CudaBatch, StaysWithinALaunch) {
  BatchShape shape = evenShape(1, 1, 1);
  shape.tiling = {.queries = 8};
  constexpr uint64_t kRoom = 2 * kLimit;
  EXPECT_LT(bytesOf(shape, kMostQueries), kRoom);
  EXPECT_LE(batchQueries(shape, kMostQueries + 1, kRoom), kMostQueries);
  EXPECT_LE(batchQueries(shape, ~uint64_t(0), kRoom), kMostQueries);
}

constexpr uint64_t kGiB = uint64_t(1) << 30;

TEST(CudaBatch, TheLimitIsAShareOfTheDevice) {
  EXPECT_EQ(allowedWorkspace(64 * kGiB).bytes, 2 * kGiB);
  EXPECT_EQ(allowedWorkspace(140 * kGiB).bytes, 4 * kGiB);
  EXPECT_EQ(allowedWorkspace(4 * kGiB).bytes, kGiB / 4);
  EXPECT_FALSE(allowedWorkspace(4 * kGiB).isAsked);
  EXPECT_EQ(workspaceLimit(2 * kGiB, 60 * kGiB), 2 * kGiB);
  EXPECT_EQ(workspaceLimit(2 * kGiB, 3 * kGiB), kGiB + kGiB / 2) << "half of what is available";
  EXPECT_EQ(workspaceLimit(2 * kGiB, 0), kGiB / 4);
  EXPECT_EQ(workspaceLimit(1000, 0), 1000u) << "what nobody may pass";
}

TEST(CudaBatch, TheLimitMayBeSaid) {
  const auto allowed = [](const char *said) {
    ::setenv("ANNUDF_WORKSPACE_MIB", said, 1);
    const AllowedWorkspace allowed = allowedWorkspace(64 * kGiB);
    EXPECT_TRUE(allowed.isAsked);
    return allowed.bytes;
  };
  EXPECT_EQ(allowed("1"), uint64_t(1) << 20);
  EXPECT_EQ(allowed("256"), kGiB / 4);
  EXPECT_EQ(allowed("1048576"), 1024 * kGiB);
  for (const char *said : {"", "0", "-1", "256M", "1.5", "1048577", "99999999999999999999", " 1"})
    EXPECT_EQ(annudf::test::errorOf([&] { (void)allowed(said); }, annudf::ErrorKind::Environment),
              "ANNUDF_WORKSPACE_MIB is '" + std::string(said) +
                  "'; it must be a whole number of MiB from 1 to 1048576");
  ::unsetenv("ANNUDF_WORKSPACE_MIB");
}

TEST(CudaBatch, BytesThatDoNotFit64BitsAreNotSmall) {
  BatchShape shape = evenShape(1024, 1, 1000);
  shape.groups = uint64_t(1) << 57; // 128 bytes each.
  EXPECT_EQ(bytesOf(shape, 1), kNoWorkspace);
  EXPECT_EQ(batchQueries(shape, 1000, kLimit), 1u);
  shape.groups = uint64_t(1) << 50;
  EXPECT_LT(bytesOf(shape, 1), kNoWorkspace);
  EXPECT_EQ(bytesOf(shape, uint64_t(1) << 8), kNoWorkspace);
}

} // namespace
