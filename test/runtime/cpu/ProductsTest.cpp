//===- ProductsTest.cpp - Products of matrices change no bit --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductsTesting.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

class Products : public ::testing::TestWithParam<std::string> {};

TEST_P(Products, GivesTheBitsOfTheScan) {
  const Metric metric = compiled(provedMetric(GetParam()));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const int32_t dims : {1, 3, 16, 33, 96, 128, 257, 1024})
    for (const auto &[name, kind] : kKinds) {
      // Long rows need many operations, and their lists as many kinds of ends.
      const int rows = dims < 200 ? 600 : 150;
      const Data base = dataOf(kind, rows, dims, uint32_t(dims));
      const Data queries = dataOf(kind, 45, dims, 99);
      const Index index = indexOf(base, 5);
      for (const int k : {1, 10, 100, rows})
        for (const uint32_t probes : {2u, 5u}) {
          const auto found = [&](const char *family) {
            return search(*backend, index, metric, queries, k, {.candidates = Lists{probes}},
                          family);
          };
          const bool isRatio = provedMetric(GetParam()).form->lengths.has_value();
          if (name == kBeyond || (name == kHuge && isRatio))
            // A mean far from most rows does not shift a ratio, and one row may make it so.
            if (const std::string fault = errorOf([&] { found("matrix"); }, ErrorKind::Input);
                fault != "NO ERROR") {
              EXPECT_EQ(fault, "family 'matrix' cannot run this search: its coefficients or the "
                               "rows' mean are too large for a bound");
              EXPECT_TRUE(isRatio || GetParam() == "proved_inner_product");
              continue;
            }
          const FoundBits expected = found("groups");
          ASSERT_EQ(expected, found("matrix"))
              << dims << " dims, " << name << ", k " << k << ", " << probes << " probes";
          if (k != 10)
            continue;
          {
            const With none("ANNUDF_KEEP_ROWS", "0");
            ASSERT_EQ(expected, found("matrix"))
                << dims << " dims, " << name << ", " << probes << " probes, no rows kept";
          }
          for (const cpu::ProductKernels *kernels : cpu::availableKernels().subspan(1)) {
            const WithProducts others(kernels->name);
            ASSERT_EQ(expected, found("matrix")) << dims << " dims, " << name << ", k " << k << ", "
                                                 << probes << " probes, " << kernels->name;
          }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Metrics, Products,
                         ::testing::Values("proved_l2", "proved_weighted_l2",
                                           "proved_inner_product", "proved_cosine",
                                           "proved_weighted_cosine", "proved_similarity",
                                           "proved_correlation"),
                         [](const auto &info) { return info.param; });

TEST(ProductScan, LeavesOutWhatAFilterDoes) {
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 1000, 20, 1);
  const Data queries = dataOf(kKinds[0].second, 70, 20, 2);
  const Index index = indexOf(base, 4);
  const SearchParams with{.candidates = Lists{3}, .filter = aQuarterOf1000()};
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(search(*backend, index, metric, queries, 10, with, "groups"),
              search(*backend, index, metric, queries, 10, with, "matrix"));
}

constexpr const char *kMultiplied = "matrix: 33.8 queries a row, multiplied with plain";

/// Rows are kept from the second search with a metric on, or by a large one.
TEST(ProductScan, KeepsRowsForTheSecondSearch) {
  const WithProducts plain("plain"); // Then the planner leaves it to who asks.
  const Metric metric = compiled(provedMetric("proved_weighted_l2")),
               other = compiled(provedMetric("proved_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 3000, 20, 1),
             queries = dataOf(kKinds[0].second, 45, 20, 2);
  Index index = indexOf(base, 4);
  const auto how = [&](const Metric &metric) {
    SearchStats stats;
    const FoundBits expected =
        search(*backend, index, metric, queries, 10, {.candidates = Lists{3}}, "groups");
    EXPECT_EQ(
        search(*backend, index, metric, queries, 10, {.candidates = Lists{3}}, "matrix", &stats),
        expected);
    EXPECT_TRUE(stats.why.ends_with(kByName)) << stats.why;
    return stats.family + ": " + stats.why.substr(0, stats.why.rfind(kByName));
  };
  const std::string converted = kMultiplied, kept = converted + ", rows kept in bfloat16";
  EXPECT_EQ(how(metric), converted);
  EXPECT_EQ(how(metric), kept);
  EXPECT_EQ(how(other), converted); // What is a metric's own is not there yet.
  EXPECT_EQ(how(other), kept);
  EXPECT_EQ(how(metric), kept);
  {
    const With none("ANNUDF_KEEP_ROWS", "0");
    EXPECT_EQ(how(metric), converted);
  }
  // They are of one state of the index.
  const Data more = dataOf(kKinds[1].second, 500, 20, 3);
  index.extend(more.view());
  EXPECT_EQ(how(metric), converted);
  EXPECT_EQ(how(metric), kept);
  std::vector<int64_t> some;
  for (int64_t id = 0; id < 3500; id += 3)
    some.push_back(id);
  index.remove(some);
  EXPECT_EQ(how(metric), converted);
  EXPECT_EQ(how(metric), kept);
  EXPECT_EQ(how(other), converted);
  std::vector<int64_t> rest; // Some lists end up without rows.
  for (int64_t id = 20; id < 3500; ++id)
    rest.push_back(id);
  index.remove(rest);
  EXPECT_EQ(how(metric), converted);
  EXPECT_EQ(how(metric), kept);
}

/// What a filter makes the planner choose changes no result.
TEST(ProductScan, AFilterOfFewRowsIsNotForProducts) {
  if (cpu::matrixKernels().cost == 0)
    GTEST_SKIP() << "no AVX2";
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 20'000, 24, 1);
  const Data queries = dataOf(kKinds[0].second, 70, 24, 2);
  const Index index = indexOf(base, 8);
  std::mt19937 random(3);
  std::map<double, std::string> chosen;
  for (const double share : {0.0, 0.002, 0.5, 1.0}) {
    std::vector<uint32_t> words(size_t(RowFilter::wordsFor(base.rows)));
    for (int64_t id = 0; id < base.rows; ++id)
      words[size_t(id / 32)] |= uint32_t(std::bernoulli_distribution(share)(random)) << (id % 32);
    const SearchParams with{.candidates = Lists{5},
                            .filter = std::make_shared<RowFilter>(words, base.rows)};
    SearchStats stats;
    for (int time = 0; time < 2; ++time) {
      const FoundBits expected = search(*backend, index, metric, queries, 10, with, "groups");
      EXPECT_EQ(expected, search(*backend, index, metric, queries, 10, with, "", &stats)) << share;
      EXPECT_EQ(expected, search(*backend, index, metric, queries, 10, with, "matrix")) << share;
    }
    EXPECT_EQ(stats.passingShare, with.filter->passingShare(base.rows));
    chosen[share] = stats.family;
  }
  EXPECT_EQ(chosen[0], "groups");
  EXPECT_EQ(chosen[0.002], "groups");
  EXPECT_EQ(chosen[1], "matrix");
}

TEST(ProductScan, KeepsRowsAtOnceForALargeSearch) {
  if (cpu::matrixKernels().cost == 0)
    GTEST_SKIP() << "no AVX2";
  const std::string with = std::string("multiplied with ") + cpu::matrixKernels().name;
  const Metric metric = compiled(provedMetric("proved_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 20000, 16, 1),
             queries = dataOf(kKinds[0].second, 2000, 16, 2);
  const Index index = indexOf(base, 10);
  const auto how = [&](uint32_t probes) {
    SearchStats stats;
    const FoundBits found =
        search(*backend, index, metric, queries, 3, {.candidates = Lists{probes}}, "", &stats);
    EXPECT_EQ(found,
              search(*backend, index, metric, queries, 3, {.candidates = Lists{probes}}, "groups"));
    return stats.why;
  };
  EXPECT_EQ(how(10), "2000.0 queries a row, " + with); // Reads each row once.
  const Index same = indexOf(base, 10);
  SearchStats stats;
  search(*backend, same, metric, queries, 3, {.candidates = Lists{5}}, "", &stats);
  EXPECT_EQ(stats.why, "1000.0 queries a row, " + with + ", rows kept in bfloat16");
}

/// Whether rows are converted, kept or neither, and whether the form can be bound.
TEST(ProductScan, ASearchIsPlannedOnceAndToldOnlyWithStatistics) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 6000, 4, 1),
             queries = dataOf(kKinds[0].second, 600, 4, 2);
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  std::vector<int64_t> ids(600 * 3);
  std::vector<float> distances(ids.size());
  for (const uint32_t lists : {1, 10})
    for (const float weight : {1.f, 1e-36f}) {
      const Index index = indexOf(base, lists);
      const std::vector<float> w = {1, weight, 1, 1};
      const BoundCaptures captures = BoundCaptures::bindViews(
          metric.artifact.manifest, 4, {{"w", runtime::test::given("f32", {4}, w.data(), 4)}});
      for (int time = 0; time < 3; ++time) // The first may keep no rows.
        for (const bool isTold : {false, true}) {
          SearchStats stats;
          const PlannerCounts before = plannerCounts();
          backend->search(index, metric, captures, queries.view(), 3, {.candidates = Lists{lists}},
                          ids.data(), distances.data(), isTold ? &stats : nullptr);
          EXPECT_EQ(plannerCounts().plans, before.plans + 1);
          EXPECT_EQ(plannerCounts().texts != before.texts, isTold);
        }
    }
}

TEST(ProductScan, KeepsNoMoreThanThereIsRoomFor) {
  const Metric metric = compiled(provedMetric("proved_l2"));
  const Data base = dataOf(kKinds[0].second, 100, 32, 1);
  const Index index = indexOf(base, 1); // 128 rows with those that fill groups: 8 KiB and 16.
  const auto keep = [&](uint64_t free, Refusal &why) {
    cpu::ProductRows rows([=] { return free; });
    const auto form = rows.bind(index, "", *metric.artifact.manifest.form, bind(metric, 32),
                                metric.artifact.manifest.order, why);
    return rows.get(index, cpu::plainKernels(), "", *form, 1, why);
  };
  Refusal why;
  EXPECT_EQ(keep(16383, why), nullptr);
  EXPECT_EQ(textOf(why), "converted rows are not kept: rows in bfloat16 take 8192 bytes, more than "
                         "half of the 16383 that are free");
  EXPECT_EQ(keep(16384, why)->pairs->plain.size(), 0u);
  EXPECT_EQ(keep(4 * 24576 - 1, why)->pairs->plain.size(), 0u);
  EXPECT_EQ(keep(4 * 24576, why)->pairs->plain.size(), 4096u);
  const With only("ANNUDF_KEEP_ROWS", "bfloat16");
  EXPECT_EQ(keep(4 * 24576, why)->pairs->plain.size(), 0u);
}

/// What is not kept one row after the other is read from the lists.
TEST(ProductScan, GivesTheBitsOfTheScanWithRowsInBfloatAlone) {
  const With only("ANNUDF_KEEP_ROWS", "bfloat16");
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const auto &[name, kind] : kKinds) {
    const Data base = dataOf(kind, 2000, 33, 5), queries = dataOf(kind, 45, 33, 6);
    const Index index = indexOf(base, 5);
    for (const int k : {1, 10, 100, 2000})
      for (int time = 0; time < 2; ++time)
        ASSERT_EQ(search(*backend, index, metric, queries, k, {.candidates = Lists{4}}, "groups"),
                  search(*backend, index, metric, queries, k, {.candidates = Lists{4}}, "matrix"))
            << name << ", k " << k;
  }
}

/// Weights so large that what squares of small numbers lose is not small.
TEST(ProductScan, CountsWhatSquaresLoseWithLargeWeights) {
  const Metric metric = compiled(provedMetric("proved_weighted_l2"));
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const float scale : {1e-23f, 1e-21f, 1e-18f, 1.f}) {
    Data base = dataOf(kKinds[0].second, 3000, 16, 1),
         queries = dataOf(kKinds[0].second, 45, 16, 2);
    for (std::vector<float> *values : {&base.values, &queries.values})
      for (float &value : *values)
        value *= scale;
    const Index index = indexOf(base, 4);
    const std::vector<float> w(16, 4e29f);
    const BoundCaptures captures = BoundCaptures::bindViews(
        metric.artifact.manifest, 16, {{"w", runtime::test::given("f32", {16}, w.data(), 16)}});
    const auto found = [&](const char *family) {
      FoundBits found{std::vector<int64_t>(450), std::vector<float>(450)};
      backend->search(index, metric, captures, queries.view(), 10,
                      {.candidates = Lists{3}, .family = family}, found.ids.data(),
                      found.distances.data(), nullptr);
      return found;
    };
    const FoundBits expected = found("groups");
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(expected, found("matrix")) << scale;
  }
}

TEST(ProductScan, KeepsRowsOnceHoweverManySearchAtFirst) {
  const Metric metrics[] = {compiled(provedMetric("proved_weighted_l2")),
                            compiled(provedMetric("proved_l2"))};
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 5000, 40, 1),
             queries = dataOf(kKinds[0].second, 60, 40, 2);
  const Index expectedOf = indexOf(base, 6);
  std::vector<FoundBits> expected;
  for (const Metric &metric : metrics)
    expected.push_back(
        search(*backend, expectedOf, metric, queries, 10, {.candidates = Lists{3}}, "groups"));
  for (int round = 0; round < 5; ++round) {
    const Index index = indexOf(base, 6);
    std::vector<std::thread> threads;
    threads.reserve(8);
    std::atomic<int> wrong = 0;
    for (size_t t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int time = 0; time < 4; ++time)
          wrong += !(search(*backend, index, metrics[t % 2], queries, 10, {.candidates = Lists{3}},
                            "matrix") == expected[t % 2]);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
  }
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
TEST(ProductScan, TellsHowManyRowsWereComputed) {
  const Metric metric = compiled(provedMetric("proved_l2"));
  const Data same = dataOf([](std::mt19937 &, int64_t) { return 0.5f; }, 5000, 96, 1);
  const Data queries = dataOf([](std::mt19937 &, int64_t) { return 0.0f; }, 45, 96, 2);
  const Index one = indexOf(same, 1);
  EXPECT_EQ(evaluated(one, metric, queries, 10, {.candidates = Lists{1}}), 5000);
  const auto quarter = std::make_shared<RowFilter>(
      std::vector<uint32_t>(size_t(RowFilter::wordsFor(same.rows)), 0x11111111), same.rows);
  EXPECT_EQ(evaluated(one, metric, queries, 10, {.candidates = Lists{1}, .filter = quarter}),
            double(quarter->count()));

  const Data apart =
      dataOf([](std::mt19937 &, int64_t row) { return row == 0 ? 0.001f : 1.0f; }, 5000, 96, 1);
  const Index alone = indexOf(apart, 1);
  EXPECT_EQ(evaluated(alone, metric, queries, 1, {.candidates = Lists{1}}), 1);
  EXPECT_EQ(evaluated(alone, metric, queries, 1, {.candidates = Lists{1}}),
            1); // Rows are kept.
  EXPECT_EQ(evaluated(indexOf(apart, 1), metric, queries, 1, {.candidates = Lists{1}}, "groups"),
            5000);

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
  EXPECT_EQ(evaluated(lists, metric, queries, 1, {.candidates = Lists{2}}), 2500);
}

std::string nameOf(const ExecutionPlan &plan) { return plan.family->name(); }

Workload manyQueries() {
  Workload work = workloadOf(artifactOf(provedMetric("proved_l2"), "").manifest);
  work.dims = 128, work.rows = 200'000, work.lists = 512, work.probes = 16, work.k = 10;
  work.queries = 10'000;
  return work;
}

/// Machines are given, so that plans are the same on every machine that runs the test.
TEST(ProductScan, IsChosenForManyQueriesARow) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  struct {
    Machine machine;
    const char *chosen; ///< For 10,000 queries, and for 1,000 with k 40 of rows that are kept.
  } const machines[] = {
      {{.products = "amx", .productCost = 0.15}, "matrix"},
      {{.products = "avx2", .productCost = 0.55}, "groups"},
      {{.products = "avx512", .productCost = 0.6}, "groups"},
  };
  for (const auto &[machine, chosen] : machines) {
    SCOPED_TRACE(machine.products);
    const auto planOf = [&](const Workload &work) {
      return makePlan(backend->families(), work, machine);
    };
    const std::string with = std::string("multiplied with ") + machine.products;
    Workload work = manyQueries();
    EXPECT_EQ(nameOf(planOf(work)), chosen);
    work.family = "matrix";
    EXPECT_EQ(textOf(planOf(work)), "312.5 queries a row, " + with + kByName);
    work.family = "", work.queries = 10;
    EXPECT_EQ(nameOf(planOf(work)), "groups");
    EXPECT_EQ(textOf(planOf(work)), "0.3 queries a row");
    // What is kept serves one query too, but not very many best rows.
    work.rowsAreKept = true;
    EXPECT_EQ(textOf(planOf(work)), "0.3 queries a row, " + with + ", rows kept in bfloat16");
    work.queries = 1;
    EXPECT_EQ(nameOf(planOf(work)), "matrix");
    work.queries = 1000, work.k = 40;
    EXPECT_EQ(nameOf(planOf(work)), chosen);
    work.k = 1000;
    EXPECT_EQ(nameOf(planOf(work)), "groups");
    work.rowsAreKept = false, work.queries = 10'000, work.k = 10'000;
    EXPECT_EQ(nameOf(planOf(work)), "groups");
  }
}

/// The numbers of docs/develop/cpu-backend.md, of which the test above is made.
TEST(ProductScan, PlansForThisMachine) {
  const std::map<std::string_view, double> costs = {
      {"amx", 0.15}, {"avx512", 0.6}, {"avx2", 0.55}, {"plain", 0}};
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  EXPECT_EQ(backend->machine().products, std::string_view(cpu::matrixKernels().name));
  EXPECT_EQ(backend->machine().processors, 2);
  for (const cpu::ProductKernels *kernels : cpu::availableKernels()) {
    const WithProducts with(kernels->name);
    EXPECT_EQ(backend->machine().products, std::string_view(kernels->name));
    EXPECT_EQ(backend->machine().productCost, costs.at(kernels->name));
  }
}

TEST(ProductScan, IsRefusedWhereItCannotRun) {
  const WithProducts plain("plain");
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  Workload work = manyQueries();
  EXPECT_EQ(nameOf(backend->plan(work)), "groups");
  work.family = "matrix";
  EXPECT_EQ(textOf(backend->plan(work)),
            std::string("312.5 queries a row, multiplied with plain") + kByName);
  const auto whyNot = [&] { return errorOf([&] { backend->plan(work); }, ErrorKind::Input); };
  work.dims = 8193;
  EXPECT_EQ(
      whyNot(),
      "family 'matrix' cannot run this search: it takes at most 8192 dims, the index has 8193");
  work.dims = 128, work.element = ANNUDF_ELEMENT_U8;
  EXPECT_EQ(whyNot(), "family 'matrix' cannot run this search: it does not read u8");
  work.element = ANNUDF_ELEMENT_F32, work.formIsDistance = false;
  EXPECT_EQ(whyNot(), "family 'matrix' cannot run this search: the metric has a finalize step, so "
                      "its bound cannot be inverted");
  work.noBounds = Reason::NoForm;
  EXPECT_EQ(
      whyNot(),
      "family 'matrix' cannot run this search: the metric is not proved to be a quadratic form");
  work.family = "tiles";
  EXPECT_EQ(errorOf([&] { backend->plan(work); }, ErrorKind::Usage),
            "no family of kernels is called 'tiles'; there are groups, matrix");
}

TEST(ProductScan, RefusesProductsThatItDoesNotHave) {
  const WithProducts with("avx3");
  EXPECT_EQ(errorOf([] { (void)cpu::matrixKernels(); }, ErrorKind::Usage),
            "ANNUDF_PRODUCTS is 'avx3', it must be one of amx, avx512, avx2, plain");
  std::set<std::string> missing = {"amx", "avx512", "avx2"};
  for (const cpu::ProductKernels *kernels : cpu::availableKernels())
    missing.erase(kernels->name);
  for (const std::string &name : missing) {
    const WithProducts other(name.c_str());
    EXPECT_EQ(errorOf([] { (void)cpu::matrixKernels(); }, ErrorKind::Usage),
              "ANNUDF_PRODUCTS is '" + name + "', which this machine does not support");
  }
}

/// Where captures do not allow bounds the scan runs as ever, and says why.
TEST(ProductScan, SearchesWithoutItWhereItsFormCannotBeBound) {
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
    backend->search(index, metric, captures, queries.view(), 1,
                    {.candidates = Lists{1}, .family = family}, ids.data(), distances.data(),
                    &stats);
  };
  const std::string why = "a coefficient is beyond 1e-30 to 1e30 in dimension 1";
  EXPECT_EQ(errorOf([&] { searchBy("matrix"); }, ErrorKind::Input),
            "family 'matrix' cannot run this search: " + why);
  searchBy("");
  EXPECT_EQ(stats.family, "groups");
  if (cpu::matrixKernels().cost != 0)
    EXPECT_EQ(stats.why, "600.0 queries a row; not matrix: " + why);
}

} // namespace
