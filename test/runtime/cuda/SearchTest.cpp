//===- SearchTest.cpp - The CUDA backend against brute force --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU; without one every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "CudaMetrics.h"
#include "SharedBackend.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct Result {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  SearchStats stats;
};

Result searchWith(CudaBackend &backend, const Index &index, const Metric &metric,
                  const reference::Vectors &queries, int k, uint32_t nProbes,
                  const char *family = "", std::shared_ptr<const RowFilter> filter = {}) {
  Result result;
  SearchParams params = {
      .candidates = Lists{nProbes}, .filter = std::move(filter), .family = family};
  // Poisoned, so that an entry nobody wrote is seen.
  result.ids.assign(queries.rows * k, -777);
  result.distances.assign(queries.rows * k, -777.0f);
  backend.search(index, metric, bind(metric, queries.dims), view(queries), k, params,
                 result.ids.data(), result.distances.data(), &result.stats);
  return result;
}

Index buildIndex(const reference::Vectors &base, uint32_t nLists) {
  IndexParams params;
  params.nLists = nLists;
  params.kmeansIterations = 5;
  params.kmeansTrainsetFraction = 1;
  return Index::build(params, view(base));
}

double coarseValue(annudf_coarse kind, const double *query, const float *center, int32_t dims) {
  double square = 0, dot = 0, q = 0, c = 0;
  for (int32_t d = 0; d < dims; ++d) {
    square += (query[d] - center[d]) * (query[d] - center[d]);
    dot += query[d] * center[d], q += query[d] * query[d], c += double(center[d]) * center[d];
  }
  return kind == ANNUDF_COARSE_L2              ? square
         : kind == ANNUDF_COARSE_INNER_PRODUCT ? dot
                                               : 1 - dot / std::sqrt(q * c);
}

/// Rows of the lists that each query probes, ranked in float64. Empty where the last
/// list taken and the first left out are too close for float32 to tell.
std::vector<std::vector<int64_t>> probedRows(const Index &index, const Manifest &manifest,
                                             const reference::Vectors &queries, uint32_t nProbes) {
  std::vector<std::vector<int64_t>> rows(queries.rows);
  for (int64_t q = 0; q < queries.rows; ++q) {
    std::vector<std::pair<double, uint32_t>> rank;
    const double sign = manifest.coarseOrder == ANNUDF_ORDER_MIN ? 1 : -1;
    for (uint32_t l = 0; l < index.nLists(); ++l)
      rank.emplace_back(sign * coarseValue(manifest.coarse, queries.row(q),
                                           index.centers().data() + size_t(l) * index.dims(),
                                           index.dims()),
                        l);
    std::sort(rank.begin(), rank.end());
    if (nProbes < rank.size()) {
      const double a = rank[nProbes - 1].first, b = rank[nProbes].first;
      if (b - a <= 1e-4 * std::max(std::fabs(a), std::fabs(b)))
        continue;
    }
    for (uint32_t p = 0; p < nProbes; ++p) {
      const List &list = index.list(rank[p].second);
      rows[q].insert(rows[q].end(), list.ids.begin(), list.ids.begin() + list.size);
    }
  }
  return rows;
}

/// Compares every query that has candidates; returns how many had.
int64_t compare(const TestMetric &test, const reference::Vectors &base,
                const reference::Vectors &queries, const std::vector<std::vector<int64_t>> &rows,
                int k, const Result &result) {
  int64_t compared = 0;
  for (int64_t q = 0; q < queries.rows && !testing::Test::HasFailure(); ++q) {
    if (rows[q].empty())
      continue;
    ++compared;
    EXPECT_EQ("", reference::check(base, rows[q], queries.row(q), k, test.order, test.distance,
                                   &result.ids[q * k], &result.distances[q * k], 1e-5,
                                   cancellation(test, base)))
        << test.name << " " << toString(base.element) << " dims " << base.dims << " k " << k
        << " query " << q << " of " << queries.rows;
  }
  return compared;
}

/// Above 1024 another kernel selects, and sorts in device memory.
TEST(CudaSearch, LargeK) {
  REQUIRE_GPU("the CUDA search is");
  for (const char *name : {"l2", "inner_product", "agreement"}) {
    const TestMetric &test = testMetric(name);
    const Metric metric = cudaMetric(test);
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 9000, 5, 41);
    const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 20, 5, 42);
    const Index index = buildIndex(base, 30);
    for (uint32_t nProbes : {30u, 7u})
      for (int k : {1024, 1025, 2048, 5000, 9000}) {
        const auto rows = probedRows(index, metric.artifact.manifest, queries, nProbes);
        const Result found = searchWith(*sharedBackend(), index, metric, queries, k, nProbes);
        EXPECT_GT(compare(test, base, queries, rows, k, found), 0) << name;
        // The same rows from memory of the device.
        if (k == 5000) {
          const Result again = searchWith(*sharedBackend(), index, metric, queries, k, nProbes);
          EXPECT_EQ(again.ids, found.ids);
        }
      }
  }
}

TEST(CudaSearch, EveryDistance) {
  REQUIRE_GPU("the CUDA search is");
  for (const char *name : {"l2", "inner_product"})
    for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
      for (uint32_t nLists : {1u, 13u}) {
        const TestMetric &test = testMetric(name);
        const Metric metric = cudaMetric(test);
        const auto base = reference::randomVectors(element, 5003, 17, 41);
        const auto queries = reference::randomVectors(element, 77, 17, 42);
        const Index index = buildIndex(base, nLists);
        std::vector<float> distances(77 * 5003, -777.0f);
        sharedBackend()->distances(index, metric, bind(metric, 17), view(queries), {},
                                   distances.data());
        for (int64_t q = 0; q < 77; ++q)
          for (int64_t row = 0; row < 5003; ++row) {
            const double expected = test.distance(queries.row(q), base.row(row), 17);
            ASSERT_NEAR(distances[size_t(q * 5003 + row)], expected,
                        1e-4 + 1e-5 * std::fabs(expected))
                << name << " query " << q << " row " << row;
          }
      }
}

class EveryMetric : public testing::TestWithParam<std::tuple<std::string, annudf_element>> {};

TEST_P(EveryMetric, EqualsBruteForce) {
  REQUIRE_GPU("the CUDA search is");
  const TestMetric &test = testMetric(std::get<0>(GetParam()));
  const annudf_element element = std::get<1>(GetParam());
  if (!std::count(test.elements.begin(), test.elements.end(), element))
    GTEST_SKIP() << test.name << " does not take " << toString(element);
  const Metric metric = cudaMetric(test);
  int64_t partial = 0;
  for (int32_t dims : {1, 3, 16, 17, 33, 128, 257}) {
    if (!faultOfDims(element, dims).empty())
      continue;
    const uint64_t seed = seedOf(test.name) + uint64_t(dims) * 8 + element;
    const auto base = reference::randomVectors(element, 1500, dims, seed);
    const Index index = buildIndex(base, 10);
    // One query takes the pair kernel; 13 take tiles that are part full; 70 a part block of
    // queries in the coarse stage. More take another coarse kernel: EveryCoarseMetricAndOrder.
    for (int64_t count : {1, 13, 70}) {
      const auto queries = reference::randomVectors(element, count, dims, seed + count);
      for (uint32_t nProbes : {10u, 3u}) {
        const auto rows = probedRows(index, metric.artifact.manifest, queries, nProbes);
        for (int k : {1, 10, 100, 1024}) {
          if (count == 70 && k != 10)
            continue; // The brute force's time.
          const Result result = searchWith(*sharedBackend(), index, metric, queries, k, nProbes);
          const int64_t compared = compare(test, base, queries, rows, k, result);
          partial += nProbes == 3 ? compared : 0;
          if (HasFailure())
            return;
        }
      }
    }
  }
  EXPECT_GT(partial, bitsOf(element) < 8 ? 25 : 100)
      << "too few queries with lists that float32 can rank";
}

std::vector<std::string> metricNames() {
  std::vector<std::string> names;
  for (const TestMetric &metric : testMetrics())
    names.push_back(metric.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryMetric,
                         testing::Combine(testing::ValuesIn(metricNames()),
                                          testing::ValuesIn(kAllElements)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" + toString(std::get<1>(info.param));
                         });

TEST(CudaSearch, EveryCoarseMetricAndOrder) {
  REQUIRE_GPU("the CUDA search is");
  const TestMetric &test = testMetric("l2");
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F16, 3000, 20, 3);
  const Index index = buildIndex(base, 24);
  int64_t compared = 0;
  for (auto coarse : {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
    for (auto order : {ANNUDF_ORDER_MIN, ANNUDF_ORDER_MAX})
      for (int64_t count : {5, 300}) {
        Artifact artifact = cudaArtifact(
            test, readFatbin(std::string("l2_") + toString(coarse) + "_" + toString(order)));
        artifact.manifest.coarse = coarse, artifact.manifest.coarseOrder = order;
        const Metric metric = Metric::fromArtifact(artifact, "l2.annudf");
        const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F16, count, 20, 4 + count);
        const auto rows = probedRows(index, metric.artifact.manifest, queries, 6);
        const Result result = searchWith(*sharedBackend(), index, metric, queries, 7, 6);
        compared += compare(test, base, queries, rows, 7, result);
      }
  EXPECT_GT(compared, 400);
}

/// And a query alone probes the lists that it does among many, which another kernel ranks.
TEST(CudaSearch, PairsAndTilesAgreeToTheBit) {
  REQUIRE_GPU("the CUDA search is");
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 100, 7);
  const Index index = buildIndex(base, 64);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 100, 8);
  const int k = 50;
  const Result all = searchWith(*sharedBackend(), index, metric, queries, k, 9);
  for (int64_t q = 0; q < queries.rows; q += 7) {
    reference::Vectors one = queries;
    one.rows = 1;
    one.encoded.assign(queries.encoded.begin() + q * 400, queries.encoded.begin() + (q + 1) * 400);
    const Result alone = searchWith(*sharedBackend(), index, metric, one, k, 9);
    EXPECT_EQ(alone.distances, std::vector<float>(&all.distances[q * k], &all.distances[q * k] + k))
        << q;
    EXPECT_EQ(alone.ids, std::vector<int64_t>(&all.ids[q * k], &all.ids[q * k] + k)) << q;
  }
}

/// Whatever family runs it: the same updates in the same order.
TEST(CudaSearch, EveryFamilyAgreesToTheBit) {
  REQUIRE_GPU("the CUDA search is");
  for (const TestMetric &test : testMetrics())
    for (const annudf_element element : test.elements) {
      const Metric metric = cudaMetric(test);
      for (int32_t dims : {1, 3, 16, 31, 33, 100, 128, 257, 1000}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        const auto base = reference::randomVectors(element, 3000, dims, uint64_t(dims) * 8 + 1);
        // Lists of 90 to 3000 rows: several segments, and ends of every kind.
        const Index index = buildIndex(base, dims % 2 ? 1 : 33);
        std::vector<uint32_t> words(size_t(RowFilter::wordsFor(3000)));
        for (int64_t id = 0; id < 3000; ++id)
          words[size_t(id / 32)] |= uint32_t(id % 7 == 2 || id > 2900) << (id % 32);
        const auto filter = std::make_shared<const RowFilter>(words, 3000);
        for (int64_t count : {5, 70, 200})
          for (const auto &rows : {std::shared_ptr<const RowFilter>(), filter}) {
            const auto queries = reference::randomVectors(element, count, dims, 9);
            const uint32_t probes = std::min(5u, index.nLists());
            const int k = count == 70 ? 100 : 10;
            const auto run = [&](const char *family) {
              return searchWith(*sharedBackend(), index, metric, queries, k, probes, family, rows);
            };
            const Result pairs = run("pairs");
            EXPECT_EQ(pairs.stats.family, "pairs");
            for (const char *family : {"tiles", "staged"}) {
              if (std::string(family) == "staged" &&
                  metric.artifact.manifest.hookWidths().coordinate != 32)
                continue;
              const Result other = run(family);
              EXPECT_EQ(other.stats.family, family);
              ASSERT_EQ(other.ids, pairs.ids)
                  << family << " " << test.name << " " << toString(element) << " dims " << dims
                  << " queries " << count << (rows ? " filtered" : "");
              ASSERT_EQ(0, std::memcmp(other.distances.data(), pairs.distances.data(),
                                       pairs.distances.size() * sizeof(float)))
                  << family << " " << test.name << " " << toString(element) << " dims " << dims;
            }
          }
      }
    }
}

TEST(CudaSearch, TiesAreTheSameEveryTime) {
  REQUIRE_GPU("the CUDA search is");
  // Hamming over three bytes: most distances are ties.
  const TestMetric &test = testMetric("hamming");
  const Metric metric = cudaMetric(test);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_U8, 30000, 3, 5);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_U8, 150, 3, 6);
  const Index index = buildIndex(base, 12);
  for (int k : {1, 10, 1000}) {
    const Result first = searchWith(*sharedBackend(), index, metric, queries, k, 5);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(first.ids, searchWith(*sharedBackend(), index, metric, queries, k, 5).ids)
          << "k " << k;
    if (k == 10)
      compare(test, base, queries, probedRows(index, metric.artifact.manifest, queries, 5), k,
              first);
  }
}

TEST(CudaSearch, ManyListsAndLargeBatches) {
  REQUIRE_GPU("the CUDA search is");
  // More lists than threads of a block; enough rows a query that batches are cut.
  const TestMetric &test = testMetric("l1");
  const Metric metric = cudaMetric(test);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_I8, 60000, 8, 11);
  const Index index = buildIndex(base, 2500);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_I8, 9000, 8, 12);
  const Result result = searchWith(*sharedBackend(), index, metric, queries, 10, 2500);
  const auto rows = reference::allRows(base.rows);
  for (int64_t q = 0; q < queries.rows; q += 997)
    EXPECT_EQ("", reference::check(base, rows, queries.row(q), 10, test.order, test.distance,
                                   &result.ids[q * 10], &result.distances[q * 10]))
        << q;
  EXPECT_EQ("", reference::check(base, rows, queries.row(8999), 10, test.order, test.distance,
                                 &result.ids[89990], &result.distances[89990]));
}

TEST(CudaSearch, NanNeverEntersAndInfinityDoes) {
  REQUIRE_GPU("the CUDA search is");
  // Squares overflow to inf, and inf times a weight of 0 is NaN.
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base =
      reference::encode(ANNUDF_ELEMENT_F32, 2, {1, 2, 3e30, 0, 0, 3e30, 4, 5, 3e30, 3e30, 6, 6});
  IndexParams params;
  params.nLists = 1;
  const Index index = Index::build(params, view(base));
  const auto query = reference::encode(ANNUDF_ELEMENT_F32, 2, {0, 0});
  NumericArray weights{"f32", {2}, std::vector<std::byte>(8), "test"};
  const float zeroOne[2] = {0, 1};
  std::memcpy(weights.storage.data(), zeroOne, 8);
  const auto captures = BoundCaptures::bind(metric.artifact.manifest, 2, {{"w", weights}});
  std::vector<int64_t> ids(6);
  std::vector<float> distances(6);
  sharedBackend()->search(index, metric, captures, view(query), 6, {}, ids.data(),
                          distances.data());
  EXPECT_EQ(ids, (std::vector<int64_t>{0, 3, 5, 2, -1, -1}));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(distances, (std::vector<float>{4, 25, 36, inf, inf, inf}));
}

TEST(CudaSearch, ASecondSearchLinksAndUploadsNothing) {
  REQUIRE_GPU("the CUDA search is");
  auto backend = makeCudaDeviceBackend();
  const Metric metric = cudaMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 2000, 16, 1);
  Index index = buildIndex(base, 8);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 30, 16, 2);
  const Result first = searchWith(*backend, index, metric, queries, 5, 8);
  EXPECT_LE(first.stats.links, 1); // A test before may have had it linked in this process.
  EXPECT_GT(first.stats.linkMs, 0);
  EXPECT_GT(first.stats.uploadMs, 0);
  EXPECT_GT(first.stats.searchMs, 0);
  const Result second = searchWith(*backend, index, metric, queries, 5, 8);
  EXPECT_EQ(second.stats.links, 0);
  EXPECT_EQ(second.stats.linkMs, 0);
  EXPECT_EQ(second.stats.uploadMs, 0);
  EXPECT_EQ(first.ids, second.ids);
  // Another batch size may run another kernel, which is linked, or was meanwhile, and loaded once.
  reference::Vectors one = queries;
  one.rows = 1;
  EXPECT_LE(searchWith(*backend, index, metric, one, 1, 1).stats.links, 1);
  EXPECT_EQ(searchWith(*backend, index, metric, one, 1, 1).stats.linkMs, 0);

  index.extend(view(queries)); // Each query is now a row: its own nearest, id 2000 + q.
  const Result third = searchWith(*backend, index, metric, queries, 5, 8);
  EXPECT_EQ(third.stats.links, 0);
  EXPECT_GT(third.stats.uploadMs, 0);
  for (int64_t q = 0; q < queries.rows; ++q)
    EXPECT_EQ(third.ids[q * 5], 2000 + q);
}

TEST(CudaSearch, OneLinkHoweverManyThreadsAsk) {
  REQUIRE_GPU("the CUDA search is");
  auto backend = makeCudaDeviceBackend();
  const Metric metric = cudaMetric(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 5000, 24, 3);
  const Index index = buildIndex(base, 16);
  constexpr int kThreads = 16, kRounds = 10;
  std::atomic<int> links{0}, uploads{0};
  std::vector<Result> results(kThreads);
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 1 + t * 9, 24, 100 + t);
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        Result result = searchWith(*backend, index, metric, queries, 5, 4);
        links += result.stats.linkMs > 0;
        uploads += result.stats.uploadMs > 0;
        if (round) {
          EXPECT_EQ(result.ids, results[t].ids) << "thread " << t << " round " << round;
        }
        results[t] = result;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GE(links, 1);
  EXPECT_LE(links, 3); // pairs, tiles and staged, however many threads ask.
  EXPECT_EQ(uploads, 1);
  for (int t = 0; t < kThreads; ++t) {
    const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 1 + t * 9, 24, 100 + t);
    EXPECT_EQ(searchWith(*backend, index, metric, queries, 5, 4).ids, results[t].ids) << t;
  }
}

TEST(CudaSearch, RefusesBadArguments) {
  REQUIRE_GPU("the CUDA search is");
  const Metric metric = cudaMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 4, 1);
  const Index index = buildIndex(base, 2);
  EXPECT_THROW(searchWith(*sharedBackend(), index, metric, base, 0, 1), Error);
  EXPECT_THROW(searchWith(*sharedBackend(), index, metric, base, 51, 1), Error);
  EXPECT_THROW(searchWith(*sharedBackend(), index, metric, base, 1, 3), Error);
  const MatrixView odd{reinterpret_cast<const void *>(uint64_t(0x1001)), 1, 4, ANNUDF_ELEMENT_F32};
  int64_t id = 0;
  float distance = 0;
  EXPECT_THROW(sharedBackend()->searchDevice(index, metric, bind(metric, 4), odd, 1, {}, &id,
                                             &distance, nullptr),
               Error);
  EXPECT_THROW(makeCudaBackend(999), Error);
}

TEST(CudaSearch, VectorsTooLongForABlockAreRefusedByName) {
  REQUIRE_GPU("the CUDA search is");
  const Metric metric = cudaMetric(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, 60000, 1);
  const Index index = buildIndex(base, 1);
  reference::Vectors query = base;
  query.rows = 1;
  try {
    searchWith(*sharedBackend(), index, metric, query, 1, 1);
    // A block of a later GPU may hold it; then the answer must be the vector itself.
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("60000 dims"), std::string::npos) << error.what();
  }
  // More than the default 48 KiB of shared memory, and no room for a tile of 8 queries.
  const auto wide = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 15000, 2);
  const Index wideIndex = buildIndex(wide, 2);
  for (int count : {2, 20}) {
    reference::Vectors some = wide;
    some.rows = count;
    const Result result = searchWith(*sharedBackend(), wideIndex, metric, some, 3, 2);
    compare(testMetric("l2"), wide, some,
            std::vector<std::vector<int64_t>>(count, reference::allRows(300)), 3, result);
  }
}

} // namespace
