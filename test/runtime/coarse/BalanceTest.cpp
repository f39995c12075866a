//===- BalanceTest.cpp - Lists of about equal size ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coarse/Balance.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace annudf;
using namespace annudf::runtime;

namespace {

/// Lists whose centers are on a line, at 1, 2, 3, ...
struct Line {
  explicit Line(std::vector<int64_t> sizes) : sizes(std::move(sizes)) {
    for (size_t i = 0; i < this->sizes.size(); ++i)
      centers.push_back(float(i + 1)), centers.push_back(-7); // The second is past the dims.
  }
  uint32_t after(Balance &balance, uint32_t round) {
    return balance.after(round, sizes, centers.data(), 1, 2);
  }
  /// The list whose center list `i` got half of; `i` where it has its own.
  size_t near(size_t i) const { return size_t(std::lround(centers[2 * i])) - 1; }

  std::vector<int64_t> sizes;
  std::vector<float> centers;
};

TEST(Balance, TheSmallestTakeHalfOfTheLargest) {
  Line line({100, 3, 400, 90, 0, 100, 310, 20}); // The mean is 128: below 32, above 192.
  Balance balance(1023, 8, 20);
  EXPECT_EQ(line.after(balance, 0), 2u);
  EXPECT_EQ(line.near(4), 2u);
  EXPECT_EQ(line.near(1), 6u);
  EXPECT_EQ(line.near(7), 7u); // None is left that is large.
  EXPECT_EQ(line.centers[2 * 4], 3 * (1 + 1.0f / 1024));
  EXPECT_EQ(line.centers[2 * 2], 3 * (1 - 1.0f / 1024));
  for (size_t i = 0; i < line.sizes.size(); ++i)
    EXPECT_EQ(line.centers[2 * i + 1], -7);
}

TEST(Balance, InTheEndOnlyEmptyListsGetRows) {
  Line line({100, 3, 400, 90, 0, 100, 310, 20});
  Balance balance(1023, 8, 20);
  EXPECT_EQ(line.after(balance, 18), 1u);
  EXPECT_EQ(line.near(4), 2u);
  EXPECT_EQ(line.near(1), 1u);
}

TEST(Balance, WhatDoesNotComeApartIsNotTriedAgain) {
  Line line({1000, 1, 400, 100});
  Balance balance(1501, 4, 20);
  EXPECT_EQ(line.after(balance, 0), 1u);
  EXPECT_EQ(line.near(1), 0u);
  line.sizes = {1001, 0, 400, 100}; // Equal rows: all stayed with one of the two.
  EXPECT_EQ(line.after(balance, 1), 1u);
  EXPECT_EQ(line.near(1), 2u); // An empty list is filled from less than a large one.
  line.sizes = {1001, 200, 200, 100};
  EXPECT_EQ(line.after(balance, 2), 0u);
}

TEST(Balance, ManyEmptyListsShareOneThatIsFull) {
  Line line({9, 0, 0, 0, 0, 1});
  Balance balance(10, 6, 20);
  EXPECT_EQ(line.after(balance, 19), 3u); // 9 rows part in 2, 4, and then 2 of each are left.
  Line rows({1, 1, 0});
  Balance none(2, 3, 20);
  EXPECT_EQ(rows.after(none, 0), 0u);
}

/// In many dims a center of many clusters lies near the middle, where it is the nearest of many
/// rows: Lloyd's alone made lists of 2 to 522 rows of these.
TEST(Balance, NoListTakesMostRowsOfManyDims) {
  constexpr int64_t kRows = 6000, kClusters = 640;
  constexpr int32_t kDims = 256;
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> clusters(kClusters * kDims);
  for (float &value : clusters)
    value = normal(random);
  Matrix base;
  base.rows = kRows, base.dims = kDims, base.element = ANNUDF_ELEMENT_F32;
  base.storage.resize(kRows * kDims * sizeof(float));
  float *out = reinterpret_cast<float *>(base.storage.data());
  for (int64_t row = 0; row < kRows; ++row) {
    const size_t cluster = random() % kClusters * kDims;
    for (size_t d = 0; d < kDims; ++d)
      *out++ = clusters[cluster + d] + 0.6f * normal(random);
  }
  IndexParams params;
  params.nLists = 64;
  const Index index = Index::build(params, base.view());
  int64_t largest = 0, smallest = kRows;
  for (uint32_t list = 0; list < index.nLists(); ++list) {
    largest = std::max<int64_t>(largest, index.list(list).size);
    smallest = std::min<int64_t>(smallest, index.list(list).size);
  }
  std::printf("lists of %lld to %lld rows\n", (long long)smallest, (long long)largest);
  EXPECT_LT(largest, 4 * kRows / 64);
  EXPECT_GT(smallest, 0);
}

} // namespace
