//===- FirstSearchTest.cpp - Searches while their kernel is linked --------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one the test is skipped and says so. Decisions and links are tested without
// (LinkEstimateTest.cpp, LinksAheadTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cstring>
#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int kK = 10;

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  SearchStats stats;
  bool sameAs(const Found &other) const {
    return ids == other.ids && std::memcmp(distances.data(), other.distances.data(),
                                           distances.size() * sizeof(float)) == 0;
  }
};

class CudaLinksAhead : public testing::Test {
protected:
  void SetUp() override {
    REQUIRE_GPU("links in the background are");
    if (sharedBackend()->arch() < 90)
      GTEST_SKIP() << "before sm_90 every search waits for its link";
    ::unsetenv("ANNUDF_LINK_AHEAD");
    IndexParams params;
    params.nLists = 64, params.kmeansIterations = 5;
    base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 64, 1);
    queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 1000, 64, 2);
    index = Index::build(params, view(base));
  }
  void TearDown() override { ::setenv("ANNUDF_LINK_AHEAD", "0", 1); }

  Found search(Backend &backend, const Metric &metric, const SearchParams &params) {
    Found found = {std::vector<int64_t>(size_t(queries.rows) * kK),
                   std::vector<float>(size_t(queries.rows) * kK),
                   {}};
    backend.search(index, metric, bind(metric, queries.dims), view(queries), kK, params,
                   found.ids.data(), found.distances.data(), &found.stats);
    return found;
  }

  reference::Vectors base, queries;
  Index index;
};

TEST_F(CudaLinksAhead, TheFirstSearchIsByPairsAndLaterOnesByStagedToTheBit) {
  const auto backend = makeCudaDeviceBackend();
  const Metric metric = unfusedMetric(testMetric("asymmetric")); // No other test here has it.
  const Found first = search(*backend, metric, {.candidates = Lists{8}});
  EXPECT_EQ(first.stats.family, "pairs");
  EXPECT_EQ(first.stats.links, 1);
  EXPECT_TRUE(first.stats.why.ends_with("; staged is being linked")) << first.stats.why;
  const auto start = std::chrono::steady_clock::now();
  Found later = first;
  while (later.stats.family != "staged" &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(10)) {
    later = search(*backend, metric, {.candidates = Lists{8}});
    EXPECT_TRUE(later.sameAs(first));
  }
  EXPECT_EQ(later.stats.family, "staged");
  EXPECT_EQ(later.stats.links, 0);
  EXPECT_EQ(later.stats.why.find("being linked"), std::string::npos) << later.stats.why;
}

TEST_F(CudaLinksAhead, WhoSaysSoWaits) {
  const auto backend = makeCudaDeviceBackend();
  for (const SearchParams &params : {SearchParams{.candidates = Lists{8}, .waitForLinks = true},
                                     SearchParams{.candidates = Lists{8}, .family = "staged"},
                                     SearchParams{.candidates = Lists{8}, .timeStages = true}})
    EXPECT_EQ(search(*backend, unfusedMetric(testMetric("chebyshev")), params).stats.family,
              "staged");
  ::setenv("ANNUDF_LINK_AHEAD", "0", 1);
  EXPECT_EQ(
      search(*backend, unfusedMetric(testMetric("equal")), {.candidates = Lists{8}}).stats.family,
      "staged");
}

TEST_F(CudaLinksAhead, ManyThreadsFindTheSame) {
  const auto backend = makeCudaDeviceBackend();
  const Metric metric = unfusedMetric(testMetric("agreement"));
  std::vector<Found> found(16);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (Found &mine : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        mine = search(*backend, metric, {.candidates = Lists{8}});
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Found &one : found)
    EXPECT_TRUE(one.sameAs(found[0]));
}

} // namespace
