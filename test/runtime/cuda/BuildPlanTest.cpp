//===- BuildPlanTest.cpp - How a build spends a device's memory ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/build/BuildPlan.h"
#include "Support/TestFiles.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using namespace annudf::test;

namespace {

using Way = BuildPlan::Way;

BuildPlan planned(const BuildShape &shape, uint64_t limit) {
  return planBuild(shape, limit, "device_memory_limit", ErrorKind::Usage);
}

/// A hundred million rows of 96 floats: 38 GB, which a card of 40 does not hold with their lists.
const BuildShape kLarge = {100'000'000, ANNUDF_ELEMENT_F32, 96, 16384, 4'194'304};

TEST(BuildPlan, TakesTheFirstWayThatFits) {
  constexpr uint64_t kGiB = uint64_t(1) << 30;
  EXPECT_EQ(planned(kLarge, 140 * kGiB).way, Way::Whole);
  EXPECT_EQ(planned(kLarge, 140 * kGiB).pieceRows, kLarge.rows);
  const BuildPlan pieces = planned(kLarge, 60 * kGiB);
  EXPECT_EQ(pieces.way, Way::Pieces);
  EXPECT_EQ(pieces.pieceRows, (uint64_t(16) << 20) / 384);
  // The lists, their padding and ids, and the sort.
  EXPECT_GT(pieces.bytes, kLarge.rows * (384 + 8 + 16));
  EXPECT_LT(pieces.bytes, kLarge.rows * (384 + 8 + 17) + 2 * kGiB);
  const BuildPlan host = planned(kLarge, 24 * kGiB);
  EXPECT_EQ(host.way, Way::ListsOnHost);
  EXPECT_LT(host.bytes, 3 * kGiB);
}

/// Each plan stays within its limit, and a byte less is another plan or none.
TEST(BuildPlan, EveryLimit) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BITS})
    for (const uint64_t rows : {1, 100, 20000, 3000000})
      for (const uint32_t lists : {1, 20, 1000}) {
        const BuildShape shape = {rows, element, 72, lists, std::min<uint64_t>(rows, lists * 256)};
        uint64_t limit = ~uint64_t(0);
        Way way = Way::Whole;
        int plans = 0;
        for (;; ++plans) {
          BuildPlan plan;
          try {
            plan = planned(shape, limit);
          } catch (const Error &error) {
            EXPECT_EQ(error.kind(), ErrorKind::Usage);
            break;
          }
          ASSERT_LE(plan.bytes, limit);
          ASSERT_GE(int(plan.way), int(way));
          ASSERT_GE(plan.pieceRows, std::min<uint64_t>(rows, 128));
          ASSERT_LE(plan.pieceRows, rows);
          way = plan.way, limit = plan.bytes - 1;
        }
        EXPECT_GE(plans, 1);
        if (rows == 3000000) // With few rows training takes most.
          EXPECT_EQ(way, Way::ListsOnHost);
      }
}

TEST(BuildPlan, WhatMeansTakeIsCounted) {
  const auto bytes = [](bool missing, bool adaptive, annudf_coarse metric, Way way) {
    BuildShape shape = {3'000'000, ANNUDF_ELEMENT_F32, 72, 1000, 256'000};
    shape.missingValues = missing, shape.adaptiveCenters = adaptive, shape.metric = metric;
    uint64_t limit = ~uint64_t(0);
    for (;;) {
      const BuildPlan plan = planned(shape, limit);
      if (plan.way == way)
        return plan.bytes;
      limit = plan.bytes - 1;
    }
  };
  const uint64_t places = ((3'000'000 + 31 * 1000) / 32 + 1) * 32;
  for (const Way way : {Way::Whole, Way::Pieces}) {
    const uint64_t plain = bytes(false, false, ANNUDF_COARSE_L2, way);
    EXPECT_EQ(bytes(true, false, ANNUDF_COARSE_COSINE, way) - plain, 80u * 4);
    EXPECT_EQ(bytes(false, true, ANNUDF_COARSE_L2, way) - plain, 1000u * 72 * 4 + 8);
    EXPECT_EQ(bytes(false, true, ANNUDF_COARSE_COSINE, way) - plain, 1000 * 72 * 4 + places * 8);
  }
  // Lists on the host get their means there.
  EXPECT_EQ(bytes(true, true, ANNUDF_COARSE_COSINE, Way::ListsOnHost),
            bytes(false, false, ANNUDF_COARSE_L2, Way::ListsOnHost));
}

TEST(BuildPlan, WhatIsTooLittleIsSaid) {
  const BuildShape shape = {20000, ANNUDF_ELEMENT_F32, 24, 130, 10000};
  const std::string fault = errorOf([&] { (void)planned(shape, 1000); }, ErrorKind::Usage);
  const std::string before =
      "device_memory_limit is 1000 bytes; k-means of 10000 rows in 130 lists takes ";
  ASSERT_EQ(fault.substr(0, before.size()), before);
  const uint64_t least = std::stoull(fault.substr(before.size()));
  EXPECT_EQ(fault.substr(before.size()),
            std::to_string(least) +
                "; train on fewer rows (kmeans_trainset_fraction), or build on the host");
  EXPECT_EQ(planned(shape, least).way, Way::ListsOnHost);
  EXPECT_EQ(planned(shape, least).bytes, least);
  EXPECT_EQ(errorOf([&] { (void)planBuild(shape, least - 1, "so much", ErrorKind::Environment); },
                    ErrorKind::Environment)
                .substr(0, 11),
            "so much is ");
}

} // namespace
