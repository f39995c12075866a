//===- MatrixTest.cpp - Products of matrices change no bit ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixScan.h"
#include "Support/TestFiles.h"
#include "TestMetrics.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <set>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

const TestMetric &provedMetric(const std::string &name) {
  for (const TestMetric &metric : provedMetrics())
    if (metric.name == name)
      return metric;
  throw std::runtime_error("no proved metric " + name);
}

struct Data {
  std::vector<float> values;
  int64_t rows;
  int32_t dims;
  MatrixView view() const { return {values.data(), rows, dims, ANNUDF_ELEMENT_F32}; }
};

using Kind = float (*)(std::mt19937 &, int64_t row);

Data dataOf(const Kind &kind, int64_t rows, int32_t dims, uint32_t seed) {
  std::mt19937 random(seed);
  Data data{{}, rows, dims};
  for (int64_t row = 0; row < rows; ++row)
    for (int32_t d = 0; d < dims; ++d)
      data.values.push_back(kind(random, row));
  return data;
}

float normal(std::mt19937 &random) { return std::normal_distribution<float>()(random); }

constexpr const char *kBeyond = "beyond what floats hold";
constexpr std::pair<const char *, Kind> kKinds[] = {
    {"normal", [](std::mt19937 &random, int64_t) { return normal(random); }},
    {"far from 0", [](std::mt19937 &random, int64_t) { return normal(random) + 1e4f; }},
    {"all equal", [](std::mt19937 &, int64_t) { return 0.1f; }},
    {"duplicates and ties", [](std::mt19937 &random, int64_t) { return float(random() % 2); }},
    {"one huge row",
     [](std::mt19937 &random, int64_t row) { return normal(random) * (row == 7 ? 1e15f : 1); }},
    {kBeyond,
     [](std::mt19937 &random, int64_t row) { return normal(random) * (row % 3 ? 1 : 3e20f); }},
    {"denormal", [](std::mt19937 &random, int64_t) { return normal(random) * 1e-40f; }},
    {"squares below the normal range",
     [](std::mt19937 &random, int64_t) { return normal(random) * 1e-22f; }},
};

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  bool operator==(const Found &other) const {
    return ids == other.ids && std::memcmp(distances.data(), other.distances.data(),
                                           distances.size() * sizeof(float)) == 0;
  }
};

Found search(Backend &backend, const Index &index, const Metric &metric, const Data &queries, int k,
             SearchParams params, const std::string &family, SearchStats *stats = nullptr) {
  Found found{std::vector<int64_t>(size_t(queries.rows * k)),
              std::vector<float>(size_t(queries.rows * k))};
  params.family = family;
  backend.search(index, metric, bind(metric, queries.dims), queries.view(), k, params,
                 found.ids.data(), found.distances.data(), stats);
  return found;
}

/// With ANNUDF_AMX=0, whatever it was before.
struct WithoutAmx {
  WithoutAmx() { setenv("ANNUDF_AMX", "0", 1); }
  ~WithoutAmx() { unsetenv("ANNUDF_AMX"); }
};

Index indexOf(const Data &base, uint32_t lists) {
  IndexParams params;
  params.nLists = lists, params.kmeansIterations = 3, params.threads = 2;
  return Index::build(params, base.view());
}

class Matrix : public ::testing::TestWithParam<std::string> {};

TEST_P(Matrix, GivesTheBitsOfTheScan) {
  const Metric metric = compiled(provedMetric(GetParam()));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const int32_t dims : {1, 3, 16, 33, 96, 128, 257, 1024})
    for (const auto &[name, kind] : kKinds) {
      const Data base = dataOf(kind, 600, dims, uint32_t(dims));
      const Data queries = dataOf(kind, 45, dims, 99);
      const Index index = indexOf(base, 5);
      for (const int k : {1, 10, 100, 600})
        for (const uint32_t probes : {2u, 5u}) {
          const auto found = [&](const char *family) {
            return search(*backend, index, metric, queries, k, {.nProbes = probes}, family);
          };
          if (name == kBeyond && GetParam() == "proved_inner_product") {
            EXPECT_EQ(errorOf([&] { found("matrix"); }, ErrorKind::Input),
                      "family 'matrix' cannot run this search: its constants are beyond what a "
                      "bound allows for");
            continue;
          }
          const Found expected = found("groups");
          ASSERT_EQ(expected, found("matrix"))
              << dims << " dims, " << name << ", k " << k << ", " << probes << " probes";
          if (k != 10)
            continue;
          const WithoutAmx without;
          ASSERT_EQ(expected, found("matrix"))
              << dims << " dims, " << name << ", k " << k << ", " << probes << " probes, plain";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Metrics, Matrix,
                         ::testing::Values("proved_l2", "proved_weighted_l2",
                                           "proved_inner_product"),
                         [](const auto &info) { return info.param; });

TEST(MatrixScan, LeavesOutWhatAFilterDoes) {
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 1000, 20, 1);
  const Data queries = dataOf(kKinds[0].second, 70, 20, 2);
  const Index index = indexOf(base, 4);
  std::mt19937 random(3);
  std::vector<uint32_t> words(32);
  for (uint32_t &word : words)
    word = random() & random();
  const SearchParams with{.nProbes = 3, .filter = std::make_shared<RowFilter>(words, 1000)};
  EXPECT_EQ(search(*backend, index, metric, queries, 10, with, "groups"),
            search(*backend, index, metric, queries, 10, with, "matrix"));
}

double evaluated(const Index &index, const Metric &metric, const Data &queries, int k,
                 SearchParams params, const std::string &family = "matrix") {
  SearchStats stats;
  params.timeStages = true;
  search(*makeCpuBackend(1), index, metric, queries, k, std::move(params), family, &stats);
  return stats.evaluatedPerQuery;
}

/// Where it is known without the scan: bounds of equal rows rule none out, those of rows that are
/// far from all but one that is near rule all others out, and of a list that gives the first limit
/// every row is computed.
TEST(MatrixScan, TellsHowManyRowsWereComputed) {
  const Metric metric = compiled(provedMetric("proved_l2"));
  const Data same = dataOf([](std::mt19937 &, int64_t) { return 0.5f; }, 5000, 96, 1);
  const Data queries = dataOf([](std::mt19937 &, int64_t) { return 0.0f; }, 45, 96, 2);
  const Index one = indexOf(same, 1);
  EXPECT_EQ(evaluated(one, metric, queries, 10, {.nProbes = 1}), 5000);
  const auto quarter = std::make_shared<RowFilter>(
      std::vector<uint32_t>(size_t(RowFilter::wordsFor(same.rows)), 0x11111111), same.rows);
  EXPECT_EQ(evaluated(one, metric, queries, 10, {.nProbes = 1, .filter = quarter}),
            double(quarter->count()));

  const Data apart =
      dataOf([](std::mt19937 &, int64_t row) { return row == 0 ? 0.001f : 1.0f; }, 5000, 96, 1);
  EXPECT_EQ(evaluated(indexOf(apart, 1), metric, queries, 1, {.nProbes = 1}), 1);
  EXPECT_EQ(evaluated(indexOf(apart, 1), metric, queries, 1, {.nProbes = 1}, "groups"), 5000);

  const Data three = dataOf(
      [](std::mt19937 &, int64_t row) { return row < 2500   ? 0.1f
                                               : row < 4000 ? 9.0f
                                                            : 100.0f; },
      5000, 96, 1);
  const Index lists = indexOf(three, 3);
  std::multiset<int64_t> sizes;
  for (uint32_t list = 0; list < 3; ++list)
    sizes.insert(lists.list(list).size);
  ASSERT_EQ(sizes, (std::multiset<int64_t>{1000, 1500, 2500}));
  EXPECT_EQ(evaluated(lists, metric, queries, 1, {.nProbes = 2}), 2500);
}

TEST(MatrixScan, IsChosenForManyQueriesARowWhereThereAreTiles) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  Workload work =
      workloadOf(provedMetric("proved_l2").form ? artifactOf(provedMetric("proved_l2"), "").manifest
                                                : Manifest());
  work.dims = 128, work.rows = 200'000, work.lists = 512, work.probes = 16, work.k = 10;
  work.queries = 10'000;
  if (cpu::tileKernels()) {
    const Plan plan = backend->plan(work);
    EXPECT_EQ(plan.name, "matrix");
    EXPECT_EQ(plan.why, "312.5 queries a row, multiplied with AMX");
  }
  work.queries = 10;
  EXPECT_EQ(backend->plan(work).name, "groups");
  EXPECT_EQ(backend->plan(work).why, "0.3 queries a row");
  work.queries = 10'000, work.k = 10'000;
  EXPECT_EQ(backend->plan(work).name, "groups");
  const WithoutAmx without;
  work.k = 10;
  EXPECT_EQ(backend->plan(work).name, "groups");
  work.family = "matrix";
  EXPECT_EQ(backend->plan(work).why, "312.5 queries a row, multiplied with plain");
  const auto whyNot = [&] { return errorOf([&] { backend->plan(work); }, ErrorKind::Input); };
  work.dims = 8193;
  EXPECT_EQ(whyNot(),
            "no family of kernels can run this search: matrix: it takes at most 8192 dims");
  work.dims = 128, work.element = ANNUDF_ELEMENT_U8;
  EXPECT_EQ(whyNot(), "no family of kernels can run this search: matrix: it does not read u8");
  work.element = ANNUDF_ELEMENT_F32, work.formIsDistance = false;
  EXPECT_EQ(whyNot(),
            "no family of kernels can run this search: matrix: the metric's formula is no "
            "proved quadratic form");
}

/// Where captures do not allow bounds the scan runs as ever, and says why.
TEST(MatrixScan, SearchesWithoutItWhereItsFormCannotBeBound) {
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 6000, 4, 1),
             queries = dataOf(kKinds[0].second, 600, 4, 2);
  const Index index = indexOf(base, 1);
  const std::vector<float> w = {1, 1e-36f, 1, 1};
  const BoundCaptures captures = BoundCaptures::bindViews(
      metric.artifact.manifest, 4, {{"w", runtime::test::given("f32", {4}, w.data(), 4)}});
  std::vector<int64_t> ids(600);
  std::vector<float> distances(600);
  SearchStats stats;
  const auto searchBy = [&](const char *family) {
    backend->search(index, metric, captures, queries.view(), 1, {.nProbes = 1, .family = family},
                    ids.data(), distances.data(), &stats);
  };
  const std::string why = "a coefficient is beyond 1e-30 to 1e30 in dimension 1";
  EXPECT_EQ(errorOf([&] { searchBy("matrix"); }, ErrorKind::Input),
            "family 'matrix' cannot run this search: " + why);
  searchBy("");
  EXPECT_EQ(stats.family, "groups");
  if (cpu::tileKernels())
    EXPECT_EQ(stats.why, "not matrix: " + why);
}

} // namespace
