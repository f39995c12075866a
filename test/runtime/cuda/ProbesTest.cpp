//===- ProbesTest.cpp - The GPU's choice of lists, run on the host --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "kernels/cuda/search/Probes.cuh"
#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace annudf::test;

namespace {

/// The k smallest keys, ties by index, in order of index.
std::vector<uint32_t> expected(const std::vector<uint32_t> &keys, uint32_t k) {
  std::vector<uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

void check(const std::vector<uint32_t> &keys, uint32_t k, const char *what) {
  const uint32_t n = static_cast<uint32_t>(keys.size());
  ASSERT_TRUE(ANNUDF_CHOSEN_BY_WARP(n, k)) << what;
  ProbeScratch scratch;
  std::vector<uint32_t> lists(k + 1, 7777777);
  Block::run(kLanes, [&] { chooseByWarp(scratch, keys.data(), n, k, lists.data()); });
  EXPECT_EQ(lists.back(), 7777777u) << what << ", " << k << " of " << n;
  lists.pop_back();
  EXPECT_EQ(lists, expected(keys, k)) << what << ", " << k << " of " << n;
}

/// Every kind of keys, with what is chosen of them.
void checkAll(uint32_t n, uint32_t k) {
  std::mt19937 random(n * 64 + k);
  std::vector<uint32_t> keys(n);
  for (uint32_t &key : keys)
    key = 0x80000000u + random() % 0x40000000u;
  check(keys, k, "random");
  for (uint32_t &key : keys)
    key = 0xBF000000u + random() % 8; // One exponent, and many ties.
  check(keys, k, "eight values");
  for (uint32_t i = 0; i < n; ++i)
    keys[i] = i;
  check(keys, k, "rising");
  for (uint32_t i = 0; i < n; ++i)
    keys[i] = 0xFFFFFFFEu - i;
  check(keys, k, "falling");
  for (uint32_t i = 0; i < n; ++i) // A lane has all of the best.
    keys[i] = i % 32 == 5 ? 100 + i : 0xC0000000u + random() % 1000;
  check(keys, k, "one lane's");
  std::fill(keys.begin(), keys.end(), ANNUDF_KEY_NONE);
  check(keys, k, "all NaN");
  keys[n / 2] = 5;
  check(keys, k, "all NaN but one");
  std::fill(keys.begin(), keys.end(), 0u);
  check(keys, k, "all zero");
}

TEST(CudaProbes, TheSmallestKeysTiesByList) {
  for (uint32_t n : {1u, 32u, 33u, 257u, 1000u, 1024u, 1025u, 4096u})
    for (uint32_t k : {1u, 10u, 32u})
      if (k <= n)
        checkAll(n, k);
}

TEST(CudaProbes, MoreThanALaneEachOfUpTo1024) {
  for (uint32_t n : {33u, 100u, 1024u})
    for (uint32_t k : {33u, 100u, 1023u, 1024u})
      if (k <= n)
        checkAll(n, k);
}

/// What the scratch held before, and no list's number.
constexpr uint32_t kPoison = 0x5A5A5A5A;

/// Were too many collected for a warp to hold, of one query in hundreds alone, all others of a
/// batch would wait for it.
TEST(CudaProbes, FewAreCollectedOfRandomKeys) {
  constexpr uint32_t kLists = 4096, kProbes = 32, kSeeds = 2000;
  uint32_t most = 0;
  uint64_t all = 0;
  std::vector<uint32_t> keys(kLists), lists(kProbes);
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    for (uint32_t &key : keys)
      key = random();
    ProbeScratch scratch;
    std::fill(std::begin(scratch.list), std::end(scratch.list), kPoison);
    Block::run(kLanes, [&] { chooseByWarp(scratch, keys.data(), kLists, kProbes, lists.data()); });
    ASSERT_EQ(lists, expected(keys, kProbes)) << seed;
    const auto free = std::count(std::begin(scratch.list), std::end(scratch.list), kPoison);
    ASSERT_GT(free, 0) << "seed " << seed << " has " << ProbeScratch::kMost << " and more";
    const auto collected = ProbeScratch::kMost - uint32_t(free);
    all += collected, most = std::max(most, collected);
  }
  if (std::getenv("ANNUDF_SHOW"))
    std::printf("%.1f collected, %u at most\n", double(all) / kSeeds, most);
  EXPECT_LE(all, 40u * kSeeds);
  EXPECT_LE(most, 80u);
}

TEST(CudaProbes, OthersAreChosenByABlock) {
  EXPECT_TRUE(ANNUDF_CHOSEN_BY_WARP(1024, 1024));
  EXPECT_FALSE(ANNUDF_CHOSEN_BY_WARP(1025, 33));
  EXPECT_TRUE(ANNUDF_CHOSEN_BY_WARP(4096, 32));
  EXPECT_FALSE(ANNUDF_CHOSEN_BY_WARP(4097, 1));
}

} // namespace
