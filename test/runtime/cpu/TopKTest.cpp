//===- TopKTest.cpp - Selection among equal distances ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/search/TopK.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

using namespace annudf::runtime::cpu;

namespace {

struct Row {
  float distance;
  int64_t id;
};

struct Best {
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

/// Adds the rows in groups of up to 32, on `threads` threads, each every so-many-th group.
Best select(const std::vector<Row> &rows, int k, annudf_order order, int threads) {
  TopK best(1, k, order, int64_t(rows.size()));
  auto add = [&](size_t first) {
    for (size_t begin = first * 32; begin < rows.size(); begin += size_t(threads) * 32) {
      int64_t ids[32];
      float distances[32];
      uint32_t mask = 0;
      const float limit = best.limit(0);
      for (size_t i = 0; i < 32 && begin + i < rows.size(); ++i) {
        ids[i] = rows[begin + i].id;
        distances[i] = rows[begin + i].distance;
        const bool survives =
            order == ANNUDF_ORDER_MIN ? distances[i] <= limit : distances[i] >= limit;
        mask |= uint32_t(survives) << i;
      }
      if (mask != 0)
        best.add(0, ids, distances, mask);
    }
  };
  std::vector<std::thread> running;
  for (int t = 1; t < threads; ++t)
    running.emplace_back(add, size_t(t));
  add(0);
  for (std::thread &thread : running)
    thread.join();
  Best found{std::vector<int64_t>(size_t(k)), std::vector<float>(size_t(k))};
  best.finish(0, found.ids.data(), found.distances.data());
  return found;
}

/// By (distance, id), where -0 equals +0.
Best expectedOf(std::vector<Row> rows, int k, annudf_order order) {
  std::sort(rows.begin(), rows.end(), [&](const Row &a, const Row &b) {
    if (a.distance != b.distance)
      return order == ANNUDF_ORDER_MIN ? a.distance < b.distance : a.distance > b.distance;
    return a.id < b.id;
  });
  Best found;
  for (int i = 0; i < k; ++i) {
    found.ids.push_back(rows[size_t(i)].id);
    found.distances.push_back(rows[size_t(i)].distance);
  }
  return found;
}

class EqualDistances : public testing::TestWithParam<annudf_order> {};

TEST_P(EqualDistances, AreOrderedByIdInAnyOrderOfArrival) {
  std::mt19937_64 random(1);
  // Few values, zeros of both signs among them, so that each k cuts through equal ones.
  const float values[] = {-1.0f, -0.0f, 0.0f, 0.0f, -0.0f, 1.0f};
  std::vector<Row> rows(3000);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = {values[random() % 6], int64_t(i) * 7 % 3001};
  for (int k : {1, 10, 257, 1024}) {
    const Best expected = expectedOf(rows, k, GetParam());
    for (int round = 0; round < 5; ++round) {
      std::shuffle(rows.begin(), rows.end(), random);
      for (int threads : {1, 4}) {
        const Best found = select(rows, k, GetParam(), threads);
        ASSERT_EQ(expected.ids, found.ids) << "k " << k << " threads " << threads;
        ASSERT_EQ(expected.distances, found.distances); // -0 == +0.
        for (int i = 0; i < k; ++i)                     // Each row's own zero is reported.
          ASSERT_EQ(std::signbit(expected.distances[size_t(i)]),
                    std::signbit(found.distances[size_t(i)]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TopK, EqualDistances, testing::Values(ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX));

TEST(TopK, InfinityIsADistanceLikeAnother) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<Row> rows;
  for (int64_t i = 0; i < 100; ++i)
    rows.push_back({inf, 99 - i});
  const Best found = select(rows, 3, ANNUDF_ORDER_MIN, 1);
  EXPECT_EQ(found.ids, (std::vector<int64_t>{0, 1, 2}));
}

} // namespace
