//===- SurvivorsTest.cpp - Rows that bounds do not rule out ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/products/Survivors.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace annudf::runtime::cpu;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// However wide the bounds are, the k best rows are computed or left, and each row at most once.
TEST(Survivors, LoseNoneOfTheBest) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const int k = 1 + int(random() % 40);
    const auto rows = uint32_t(random() % 1500);
    const float width = (round % 4 == 0 ? 0.f : float(random() % 1000) / 200);
    std::vector<float> distance(rows);
    for (float &one : distance)
      one = float(random() % 100); // With ties.
    Survivors found(2, k, rows);
    std::vector<float> computed;
    std::set<uint32_t> seen;
    const auto compute = [&](std::span<Survivors::Row> some) {
      for (const Survivors::Row &row : some) {
        EXPECT_TRUE(seen.insert(row.row).second);
        computed.push_back(distance[row.row]);
      }
      std::sort(computed.begin(), computed.end());
      return computed.size() < size_t(k) ? kInfinity : computed[size_t(k) - 1];
    };
    std::vector<Survivors::Row> some;
    for (uint32_t row = 0; row < rows; ++row) {
      const bool isUnknown = random() % 50 == 0;
      some.push_back({isUnknown ? -kInfinity : distance[row] - float(random() % 100) / 100 * width,
                      isUnknown ? kInfinity : distance[row] + float(random() % 100) / 100 * width,
                      0, row});
      if (random() % 16 == 0 || row + 1 == rows) {
        found.add(1, some, compute);
        some.clear();
      }
    }
    EXPECT_TRUE(found.rest(0).empty());
    compute(found.rest(1));
    std::sort(distance.begin(), distance.end());
    const size_t best = std::min<size_t>(size_t(k), rows);
    ASSERT_GE(computed.size(), best);
    for (size_t i = 0; i < best; ++i)
      ASSERT_EQ(computed[i], distance[i]) << "k " << k << ", " << rows << " rows, width " << width;
    if (width == 0 && rows > 500 && k < 10)
      EXPECT_LT(computed.size(), rows / 2);
  }
}

/// Where a limit is known, just the rows that may be within it are computed, however many.
TEST(Survivors, KnownLimitsKeepAllWithin) {
  std::mt19937 random(2);
  for (const float limit : {-1.0f, 20.0f, 99.0f, kInfinity}) {
    Survivors found({5.0f, limit});
    std::vector<Survivors::Row> rows;
    for (uint32_t row = 0; row < 2000; ++row) {
      const auto lower = float(random() % 100);
      rows.push_back({lower, lower + 1, 0, row});
    }
    std::set<uint32_t> computed;
    const auto compute = [&](std::span<Survivors::Row> some) {
      for (const Survivors::Row &row : some)
        EXPECT_TRUE(computed.insert(row.row).second);
      return limit;
    };
    for (size_t begin = 0; begin < rows.size(); begin += 40)
      found.add(1, std::span(rows).subspan(begin, 40), compute);
    found.tighten(1);
    EXPECT_EQ(found.limit(1), limit);
    EXPECT_EQ(found.limit(0), 5);
    compute(found.rest(1));
    for (const Survivors::Row &row : rows)
      EXPECT_EQ(computed.count(row.row), row.lower <= limit) << row.lower;
  }
}

} // namespace
