//===- GatheredTest.cpp - Searches of the rows alone that pass ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What they find is compared, to the bit, with the search of all lists. Needs a GPU; without one
// every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "../GatheredTesting.h"
#include "AgainstPairs.h"
#include "SharedBackend.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

bool isAtLeast(int sm) { return sharedBackend()->arch() >= sm; }

TEST(CudaGathered, EqualsTheSearchOfAllLists) {
  REQUIRE_GPU("searches of gathered rows are");
  for (const char *name : {"l2", "inner_product", "cosine", "l2_f64", "minkowski"}) {
    SCOPED_TRACE(name);
    std::vector<std::string> families = {"", "pairs", "tiles"};
    if (std::string_view(name) == "l2" && isAtLeast(80))
      families.insert(families.end(), {"staged", "staged_granules"});
    compareGathered(*sharedBackend(), unfusedMetric(testMetric(name)), ANNUDF_ELEMENT_F32, 33,
                    families);
  }
}

TEST(CudaGathered, EqualsItForEveryElement) {
  REQUIRE_GPU("searches of gathered rows are");
  for (const auto element : {ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8}) {
    SCOPED_TRACE(toString(element));
    std::vector<std::string> families = {""};
    if (element != ANNUDF_ELEMENT_F16 && isAtLeast(80))
      families.insert(families.end(), {"packed", "packed_granules"});
    compareGathered(*sharedBackend(), unfusedMetric(testMetric("l2")), element, 40, families);
  }
}

// A proved form, without its bounds; and NaN, of rows and queries without length.
TEST(CudaGathered, EqualsItForProvedFormsAndNaN) {
  REQUIRE_GPU("searches of gathered rows are");
  for (const TestMetric &proved : provedMetrics())
    if (proved.name == "proved_weighted_l2")
      compareGathered(*sharedBackend(), unfusedMetric(proved), ANNUDF_ELEMENT_F32, 33, {""});
  const Metric cosine = unfusedMetric(testMetric("cosine"));
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kGatheredRows, 16, 7);
  std::memset(base.encoded.data() + 64 * 20, 0, 64 * 5);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, 16, 8);
  const Index index = build(base, 16);
  const auto filter = filterOf(kGatheredRows, [](int64_t id) { return id < 100; });
  const auto search = [&] {
    return answerOf(*sharedBackend(), index, cosine, queries, 99, {.filter = filter});
  };
  const Answer lists = (Gather(false), search()), gathered = (Gather(true), search());
  expectSame(lists, gathered);
  EXPECT_EQ(gathered.stats.nanDistances, 40 * 5);
  EXPECT_EQ(gathered.stats.nanDistances, lists.stats.nanDistances);
  EXPECT_GE(gathered.stats.nanRow, 20);
  EXPECT_LT(gathered.stats.nanRow, 25);
}

// Filters take turns; an index without some rows, and with others, is another.
TEST(CudaGathered, FollowsFilterAndIndex) {
  REQUIRE_GPU("searches of gathered rows are");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kGatheredRows, 24, 7);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 33, 24, 8);
  Index index = build(base, 16);
  const int64_t bits = 2 * kGatheredRows;
  const std::shared_ptr<const RowFilter> filters[] = {
      filterOf(bits, [](int64_t id) { return id % 7 == 0; }),
      filterOf(bits, [](int64_t id) { return id % 5 == 0; })};
  const auto compareBoth = [&] {
    for (int i = 0; i < 4; ++i) {
      const SearchParams params = {.filter = filters[i / 2 % 2]};
      const auto search = [&] {
        return answerOf(*sharedBackend(), index, metric, queries, 20, params);
      };
      expectSame((Gather(false), search()), (Gather(true), search()));
    }
  };
  compareBoth();
  const std::vector<int64_t> gone = idsFrom(0, 300, 7);
  index.remove(gone);
  compareBoth();
  index.extend(partOf(base, 0, 200), {});
  compareBoth();
}

TEST(CudaGathered, OnlyWhereAllListsAreScannedByOneFilter) {
  REQUIRE_GPU("searches of gathered rows are");
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kGatheredRows, 24, 7);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 33, 24, 8);
  const Index index = build(base, 16);
  const auto filter = filterOf(kGatheredRows, [](int64_t id) { return id % 100 == 0; });
  const Gather gather(true);
  const auto isFor = [&](const SearchParams &params) {
    return isGathered(answerOf(*sharedBackend(), index, metric, queries, 5, params));
  };
  EXPECT_TRUE(isFor({.candidates = Lists{16}, .filter = filter}));
  expectListsAreScanned(isFor, filter, queries.rows);
}

// To and from a device's memory, and prepared.
TEST(CudaGathered, ThereAndPrepared) {
  REQUIRE_GPU("searches of gathered rows are");
  constexpr int kK = 10, kCount = 50;
  CudaBackend &backend = *sharedBackend();
  const Metric metric = unfusedMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kGatheredRows, 24, 7);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kCount, 24, 8);
  const BoundCaptures captures = bind(metric, 24);
  const SearchParams params = {
      .filter = filterOf(kGatheredRows, [](int64_t id) { return id % 99 == 0; })};
  const auto there = backend.allocate(queries.encoded.size(), nullptr),
             ids = backend.allocate(kCount * kK * sizeof(int64_t), nullptr),
             distances = backend.allocate(kCount * kK * sizeof(float), nullptr);
  backend.copy(there->address(), reinterpret_cast<uint64_t>(queries.encoded.data()),
               queries.encoded.size(), nullptr);
  const MatrixView view = {reinterpret_cast<const void *>(there->address()), kCount, 24,
                           ANNUDF_ELEMENT_F32};
  auto *const toIds = reinterpret_cast<int64_t *>(ids->address());
  auto *const toDistances = reinterpret_cast<float *>(distances->address());
  Answer wanted;
  const auto expectFound = [&] {
    const auto gotIds = backend.read(toIds, ids->size(), sizeof(int64_t), nullptr, "ids"),
               gotDistances = backend.read(toDistances, distances->size(), sizeof(float), nullptr,
                                           "distances");
    EXPECT_EQ(0, std::memcmp(gotIds.data(), wanted.ids.data(), gotIds.size()));
    EXPECT_EQ(0, std::memcmp(gotDistances.data(), wanted.distances.data(), gotDistances.size()));
    const std::vector<int64_t> none(kCount * kK, -9);
    backend.copy(ids->address(), reinterpret_cast<uint64_t>(none.data()), ids->size(), nullptr);
    backend.synchronize(nullptr);
  };
  std::unique_ptr<PreparedSearch> prepared;
  {
    const Index index = build(base, 16);
    wanted = (Gather(false), answerOf(backend, index, metric, queries, kK, params));
    const Gather gather(true);
    SearchStats stats;
    backend.searchDevice(index, metric, captures, view, kK, params, toIds, toDistances, nullptr,
                         &stats);
    EXPECT_NE(stats.why.find("gathered"), std::string::npos) << stats.why;
    expectFound();
    prepared = backend.prepareDevice(index, metric, captures, view, kK, params, nullptr, &stats);
    EXPECT_NE(stats.why.find("gathered"), std::string::npos) << stats.why;
  }
  for (int i = 0; i < 2; ++i) { // It holds the rows; the index is gone.
    prepared->run(view.data, toIds, toDistances);
    expectFound();
  }
}

} // namespace
