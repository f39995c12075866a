//===- SearchTest.cpp - The CPU backend against brute force ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestMetrics.h"
#include "cpu/search/Batch.h"

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "gtest/gtest.h"

#include <chrono>
#include <limits>
#include <map>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

struct Result {
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

Result searchWith(Backend &backend, const Index &index, const Metric &metric,
                  const reference::Vectors &queries, int k, uint32_t nProbes) {
  Result result;
  result.ids.assign(queries.rows * k, -7);
  result.distances.assign(queries.rows * k, -7);
  backend.search(index, metric, bind(metric, queries.dims), view(queries), k, {Lists{nProbes}},
                 result.ids.data(), result.distances.data());
  return result;
}

Index buildIndex(const reference::Vectors &base, uint32_t nLists) {
  IndexParams params;
  params.nLists = nLists;
  params.kmeansIterations = 5;
  params.threads = 2;
  return Index::build(params, view(base));
}

/// Rows of the lists that the coarse stage picks for each query.
std::vector<std::vector<int64_t>> probedRows(const Index &index, const Manifest &manifest,
                                             const reference::Vectors &queries, uint32_t nProbes) {
  std::vector<uint32_t> probes(queries.rows * nProbes);
  CoarseRanker(*index.listCenters(), manifest.coarse, manifest.coarseOrder)
      .rank(view(queries), nProbes, probes.data(), 1);
  std::vector<std::vector<int64_t>> rows(queries.rows);
  for (size_t i = 0; i < probes.size(); ++i) {
    const List &list = index.list(probes[i]);
    rows[i / nProbes].insert(rows[i / nProbes].end(), list.ids.begin(),
                             list.ids.begin() + list.size);
  }
  return rows;
}

/// Every row of a query's lists as (distance, id), best first.
std::vector<std::pair<double, int64_t>> bruteForce(const Index &index, const Manifest &manifest,
                                                   const TestMetric &test,
                                                   const reference::Vectors &queries, int64_t q,
                                                   uint32_t nProbes) {
  std::vector<uint32_t> probes(size_t(queries.rows) * nProbes);
  CoarseRanker(*index.listCenters(), manifest.coarse, manifest.coarseOrder)
      .rank(view(queries), nProbes, probes.data(), 1);
  std::vector<std::pair<double, int64_t>> found;
  std::vector<double> row(size_t(index.dims()));
  for (uint32_t p = 0; p < nProbes; ++p) {
    const List &list = index.list(probes[size_t(q) * nProbes + p]);
    for (int64_t i = 0; i < list.size; ++i) {
      for (int32_t d = 0; d < index.dims(); ++d) {
        float value; // f32: a word is a coordinate.
        std::memcpy(
            &value,
            &list.words[size_t((i / kGroupRows * index.words() + d) * kGroupRows + i % kGroupRows)],
            sizeof value);
        row[size_t(d)] = value;
      }
      found.emplace_back(test.distance(queries.row(q), row.data(), index.dims()),
                         list.ids[size_t(i)]);
    }
  }
  std::sort(found.begin(), found.end(), [&](const auto &a, const auto &b) {
    if (a.first != b.first)
      return test.order == ANNUDF_ORDER_MIN ? a.first < b.first : a.first > b.first;
    return a.second < b.second;
  });
  return found;
}

class EveryMetric : public testing::TestWithParam<std::tuple<std::string, annudf_element>> {};

TEST_P(EveryMetric, EqualsBruteForce) {
  const TestMetric &test = testMetric(std::get<0>(GetParam()));
  const annudf_element element = std::get<1>(GetParam());
  if (!std::count(test.elements.begin(), test.elements.end(), element))
    GTEST_SKIP() << test.name << " does not take " << toString(element);
  const Metric metric = compiled(test);
  auto backend = makeCpuBackend(2);
  for (int32_t dims : {1, 3, 16, 17, 33, 128, 257}) {
    if (!faultOfDims(element, dims).empty())
      continue;
    const uint64_t seed = seedOf(test.name) + uint64_t(dims) * 8 + element;
    const auto base = reference::randomVectors(element, 1500, dims, seed);
    // Not a multiple of the scan's tile, and enough that some lists see several tiles.
    const auto queries = reference::randomVectors(element, 13, dims, seed + 1);
    const Index index = buildIndex(base, 10);
    for (uint32_t nProbes : {10u, 3u}) {
      const auto rows = probedRows(index, metric.artifact.manifest, queries, nProbes);
      for (int k : {1, 10, 100, 1024}) {
        const Result result = searchWith(*backend, index, metric, queries, k, nProbes);
        for (int64_t q = 0; q < queries.rows; ++q)
          EXPECT_EQ("", reference::check(base, rows[q], queries.row(q), k, test.order,
                                         test.distance, &result.ids[q * k],
                                         &result.distances[q * k], 1e-5, cancellation(test, base)))
              << test.name << " " << toString(element) << " dims " << dims << " k " << k
              << " probes " << nProbes << " query " << q;
        if (HasFailure())
          return;
      }
    }
  }
}

std::vector<std::string> metricNames() {
  std::vector<std::string> names;
  for (const TestMetric &metric : testMetrics())
    names.push_back(metric.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryMetric,
                         testing::Combine(testing::ValuesIn(metricNames()),
                                          testing::ValuesIn(kAllElements)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" + toString(std::get<1>(info.param));
                         });

TEST(CpuSearch, ThreadsDoNotChangeTheResult) {
  // Hamming over few bits: most distances are ties.
  const TestMetric &test = testMetric("hamming");
  const Metric metric = compiled(test);
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_U8, 3000, 3, 5);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_U8, 150, 3, 6);
  const Index index = buildIndex(base, 12);
  auto one = makeCpuBackend(1), two = makeCpuBackend(2), seven = makeCpuBackend(7);
  for (int k : {1, 10, 300}) {
    const Result expected = searchWith(*one, index, metric, queries, k, 5);
    for (Backend *backend : {two.get(), seven.get()}) {
      const Result result = searchWith(*backend, index, metric, queries, k, 5);
      EXPECT_EQ(expected.ids, result.ids) << "k " << k;
      EXPECT_EQ(expected.distances, result.distances) << "k " << k;
    }
  }
}

/// However many queries there are and however few lists, the caller is asked while they are
/// scanned whether to go on, and can stop that. He takes his time at the start, so that the first
/// piece is told of however fast this machine is: he is asked every 50 ms at most.
TEST(CpuSearch, OneListIsScannedInPieces) {
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 64, 5);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 1500, 64, 6);
  const Index index = buildIndex(base, 1);
  const auto backend = makeCpuBackend(1);
  const BoundCaptures none;
  std::vector<int64_t> ids(1500);
  std::vector<float> distances(1500);
  int within = 0;
  const auto search = [&](bool stop) {
    SearchParams params{.candidates = Lists{1}};
    params.progress = [&within, stop](const char *, double done) {
      if (done == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
      within += done > 0 && done < 1;
      return !(stop && done > 0);
    };
    backend->search(index, metric, none, view(queries), 1, params, ids.data(), distances.data());
  };
  search(false);
  EXPECT_GE(within, 1);
  EXPECT_THROW(search(true), Error);
}

/// Small integers are exact, so most distances are equal to the bit and ids settle them,
/// whatever the lists, threads and batches.
TEST(CpuSearch, EqualDistancesAreOrderedById) {
  for (const char *name : {"l2", "inner_product", "agreement"}) {
    const TestMetric &test = testMetric(name);
    const Metric metric = compiled(test);
    std::vector<double> values(2 * 2500), asked(2 * 200);
    uint64_t state = 1;
    for (std::vector<double> *to : {&values, &asked})
      for (double &value : *to)
        value = double((state = state * 6364136223846793005u + 1442695040888963407u) >> 62);
    const auto base = reference::encode(ANNUDF_ELEMENT_F32, 2, values);
    const auto queries = reference::encode(ANNUDF_ELEMENT_F32, 2, asked);
    // Ids that go down, so that neither place nor list is their order.
    std::vector<int64_t> ids(size_t(base.rows));
    for (int64_t i = 0; i < base.rows; ++i)
      ids[size_t(i)] = 10000 - i;
    Index index = buildIndex(base, 9);
    index.extend(view(base), {ids.data()});
    for (uint32_t nProbes : {9u, 4u}) {
      std::map<int64_t, std::vector<std::pair<double, int64_t>>> expected;
      for (int64_t q = 0; q < queries.rows; q += 7)
        expected[q] = bruteForce(index, metric.artifact.manifest, test, queries, q, nProbes);
      for (int k : {1, 37, 1024, 1025, 4000, 5000}) {
        const Result one = searchWith(*makeCpuBackend(1), index, metric, queries, k, nProbes);
        const Result many = searchWith(*makeCpuBackend(5), index, metric, queries, k, nProbes);
        EXPECT_EQ(one.ids, many.ids) << name << " k " << k << " probes " << nProbes;
        for (const auto &[q, found] : expected)
          for (int i = 0; i < k && size_t(i) < found.size(); ++i) {
            ASSERT_EQ(found[size_t(i)].second, one.ids[size_t(q * k + i)])
                << name << " k " << k << " probes " << nProbes << " query " << q << " rank " << i;
            ASSERT_EQ(float(found[size_t(i)].first), one.distances[size_t(q * k + i)]);
          }
      }
    }
  }
}

TEST(CpuSearch, OneQueryEqualsTheSameQueryInABatch) {
  const Metric metric = compiled(testMetric("weighted_l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 4000, 48, 7);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, 48, 8);
  const Index index = buildIndex(base, 16);
  auto backend = makeCpuBackend(2);
  const int k = 20;
  const Result all = searchWith(*backend, index, metric, queries, k, 4);
  for (int64_t q = 0; q < queries.rows; ++q) {
    reference::Vectors one = queries;
    one.rows = 1;
    one.encoded.assign(queries.encoded.begin() + q * 48 * 4,
                       queries.encoded.begin() + (q + 1) * 48 * 4);
    const Result result = searchWith(*backend, index, metric, one, k, 4);
    EXPECT_EQ(result.ids, std::vector<int64_t>(&all.ids[q * k], &all.ids[q * k] + k)) << q;
  }
}

TEST(CpuSearch, BatchesBeyondTheMemoryBoundAreCut) {
  // 64 MiB hold about 2000 queries at k 1024.
  const Metric metric = compiled(testMetric("l1"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_I8, 1100, 4, 9);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_I8, 4500, 4, 10);
  const Index index = buildIndex(base, 4);
  auto backend = makeCpuBackend(2);
  const Result result = searchWith(*backend, index, metric, queries, 1024, 4);
  const auto rows = reference::allRows(base.rows);
  for (int64_t q = 0; q < queries.rows; q += 449)
    EXPECT_EQ("", reference::check(base, rows, queries.row(q), 1024, ANNUDF_ORDER_MIN,
                                   testMetric("l1").distance, &result.ids[q * 1024],
                                   &result.distances[q * 1024]))
        << q;
}

TEST(CpuSearch, NanNeverEntersAndInfinityDoes) {
  // Squares overflow to inf, and inf times a weight of 0 is NaN.
  const TestMetric &test = testMetric("weighted_l2");
  const Metric metric = compiled(test);
  std::vector<double> values = {1, 2, 3e30, 0, 0, 3e30, 4, 5, 3e30, 3e30, 6, 6};
  const auto base = reference::encode(ANNUDF_ELEMENT_F32, 2, values);
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
  makeCpuBackend(1)->search(index, metric, captures, view(query), 6, {}, ids.data(),
                            distances.data());
  // (3e30, 0) and (3e30, 3e30) are NaN, (0, 3e30) is inf.
  EXPECT_EQ(ids, (std::vector<int64_t>{0, 3, 5, 2, -1, -1}));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(distances, (std::vector<float>{4, 25, 36, inf, inf, inf}));
}

TEST(CpuSearch, RefusesWhatCheckSearchRefuses) {
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 4, 1);
  const Index index = buildIndex(base, 2);
  auto backend = makeCpuBackend(1);
  EXPECT_THROW(searchWith(*backend, index, metric, base, 0, 1), Error);
  EXPECT_THROW(searchWith(*backend, index, metric, base, 51, 1), Error);
  EXPECT_THROW(searchWith(*backend, index, metric, base, 1, 3), Error);
  const Metric bits = compiled(testMetric("hamming"));
  EXPECT_THROW(searchWith(*backend, index, bits, base, 1, 1), Error);
  const auto none = reference::randomVectors(ANNUDF_ELEMENT_F32, 0, 4, 1);
  EXPECT_THROW(searchWith(*backend, index, metric, none, 1, 1), Error);
}

TEST(CpuSearch, RefusesCapturesBoundForSomethingElse) {
  const Metric weighted = compiled(testMetric("weighted_l2")),
               minkowski = compiled(testMetric("minkowski"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 4, 1);
  const Index index = buildIndex(base, 2);
  auto backend = makeCpuBackend(1);
  auto fault = [&](const BoundCaptures &captures) -> std::string {
    int64_t ids[50];
    float distances[50];
    try {
      backend->search(index, weighted, captures, view(base), 1, {}, ids, distances);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      return error.what();
    }
    return "NO ERROR";
  };
  const std::string name = "metric 'weighted_l2' (weighted_l2.annudf) ";
  EXPECT_EQ(fault(bind(weighted, 4)), "NO ERROR");
  EXPECT_EQ(fault(bind(weighted, 3)),
            "captures of " + name + "were bound for 3 dims, the index has 4");
  EXPECT_EQ(fault({}), name + "needs captures w (dim x f32); none were bound");
  EXPECT_EQ(fault(bind(minkowski, 4)),
            name + "needs captures w (dim x f32); those given were bound for metric "
                   "'minkowski': p (scalar f32)");
}

TEST(CpuSearch, BatchesFitTheirMemory) {
  EXPECT_EQ(cpu::queriesPerBatch(10, 1000000, 20, 512), cpu::kMaxBatch);
  for (int k : {1, 1024})
    for (uint32_t nProbes : {1u, 4096u, 65536u})
      for (int64_t bytes : {4, 16384}) {
        const int64_t size = cpu::queriesPerBatch(k, 1000000, nProbes, bytes);
        EXPECT_LE(size * (int64_t(nProbes) * 28 + bytes + cpu::TopK::bytesPerQuery(k, 1000000)),
                  cpu::kBatchBytes);
        EXPECT_GT(size, 0);
      }
  EXPECT_EQ(cpu::queriesPerBatch(1, 1000000, 1u << 31, 4), 1); // One query always goes through.
}

#if defined(__x86_64__)
/// Whatever the caller's thread does with rounding and denormals, a search does not, on his
/// thread or the pool's; and it gives his modes back.
TEST(CpuSearch, TheCallersRoundingAndDenormalsDoNotMatter) {
  constexpr unsigned kUpFlushZero = 0x1F80 | 0x4000 | 0x8000 | 0x0040; // Round up, FTZ, DAZ.
  const Metric metric = compiled(testMetric("weighted_l2"));
  const int32_t dims = 8;
  auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, dims, 5);
  // Squares of these are denormal, and sums of the others round.
  float *values = reinterpret_cast<float *>(base.encoded.data());
  for (int64_t i = 0; i < 150 * dims; ++i)
    values[i] *= 1e-22f;
  IndexParams params;
  params.nLists = 4;
  const Index index = Index::build(params, view(base));
  for (int threads : {1, 3}) {
    auto backend = makeCpuBackend(threads);
    const Result expected = searchWith(*backend, index, metric, base, 5, 4);
    const unsigned before = _mm_getcsr();
    _mm_setcsr(kUpFlushZero);
    const Result found = searchWith(*backend, index, metric, base, 5, 4);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & ~0x3Fu, kUpFlushZero & ~0x3Fu) << "the caller's modes";
    EXPECT_EQ(found.ids, expected.ids) << threads;
    EXPECT_EQ(0, std::memcmp(found.distances.data(), expected.distances.data(),
                             expected.distances.size() * sizeof(float)))
        << threads;
    EXPECT_TRUE(std::any_of(expected.distances.begin(), expected.distances.end(), [](float d) {
      return d != 0 && std::fabs(d) < std::numeric_limits<float>::min();
    })) << "no denormal distance: the test shows nothing";
  }
}
#endif

} // namespace
