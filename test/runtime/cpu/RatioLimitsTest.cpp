//===- RatioLimitsTest.cpp - Products of matrices of normalised forms -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductsTesting.h"

#include "gtest/gtest.h"

#include <cmath>
#include <string_view>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr const char *kNames[] = {"proved_cosine", "proved_weighted_cosine", "proved_similarity",
                                  "proved_correlation"};

FoundBits searchWith(const Metric &metric, const std::vector<float> &w, const Index &index,
                     const Data &queries, const char *family, SearchStats *stats = nullptr) {
  const auto dims = int64_t(w.size());
  const BoundCaptures captures =
      BoundCaptures::bindViews(metric.artifact.manifest, index.dims(),
                               {{"w", runtime::test::given("f32", {dims}, w.data(), w.size())}});
  FoundBits found{std::vector<int64_t>(size_t(queries.rows) * 10),
                  std::vector<float>(size_t(queries.rows) * 10)};
  makeCpuBackend(2)->search(
      index, metric, captures, queries.view(), 10,
      {.candidates = Lists{3}, .family = family, .timeStages = stats != nullptr}, found.ids.data(),
      found.distances.data(), stats);
  return found;
}

TEST(RatioLimits, GivesTheBitsOfTheScanWithRowsInBfloatAlone) {
  const With only("ANNUDF_KEEP_ROWS", "bfloat16");
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  for (const char *metricName : kNames) {
    const Metric metric = compiled(provedMetric(metricName));
    for (const auto &[name, kind] : kKinds) {
      if (name == kBeyond || name == kHuge)
        continue;
      const Data base = dataOf(kind, 2000, 33, 5), queries = dataOf(kind, 45, 33, 6);
      const Index index = indexOf(base, 5);
      for (const int k : {1, 10, 2000})
        for (int time = 0; time < 2; ++time)
          ASSERT_EQ(search(*backend, index, metric, queries, k, {.candidates = Lists{4}}, "groups"),
                    search(*backend, index, metric, queries, k, {.candidates = Lists{4}}, "matrix"))
              << metricName << " " << name << ", k " << k;
    }
  }
}

TEST(RatioLimits, LeavesOutWhatAFilterDoes) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Data base = dataOf(kKinds[0].second, 1000, 20, 1),
             queries = dataOf(kKinds[0].second, 70, 20, 2);
  const Index index = indexOf(base, 4);
  const SearchParams with{.candidates = Lists{3}, .filter = aQuarterOf1000()};
  for (const char *name : kNames) {
    const Metric metric = compiled(provedMetric(name));
    for (int time = 0; time < 3; ++time) {
      const With keep("ANNUDF_KEEP_ROWS", time == 2 ? "0" : "1");
      EXPECT_EQ(search(*backend, index, metric, queries, 10, with, "groups"),
                search(*backend, index, metric, queries, 10, with, "matrix"));
    }
  }
}

/// Bounds leave little to compute of usual data, far from 0 too where the shift brings it near.
TEST(RatioLimits, LeavesFewRows) {
  if (cpu::matrixKernels().cost == 0)
    GTEST_SKIP() << "no AVX2";
  for (const char *name : kNames) {
    const Metric metric = compiled(provedMetric(name));
    for (const float offset : {0.0f, 3.0f}) {
      if (offset != 0 && std::string_view(name) == "proved_weighted_cosine")
        continue; // All would be equal.
      Data base = dataOf(kKinds[0].second, 20000, 64, 1),
           queries = dataOf(kKinds[0].second, 45, 64, 2);
      for (std::vector<float> *values : {&base.values, &queries.values})
        for (float &value : *values)
          value += offset;
      const Index index = indexOf(base, 1);
      SearchStats stats;
      for (int time = 0; time < 2; ++time)
        search(*makeCpuBackend(1), index, metric, queries, 10,
               {.candidates = Lists{1}, .timeStages = true}, "matrix", &stats);
      EXPECT_LT(stats.evaluatedPerQuery, 200) << name << ", " << offset;
    }
  }
}

/// In dimensions without weight a coordinate may be any number.
TEST(RatioLimits, TakesDimensionsWithoutWeight) {
  const Metric metric = compiled(provedMetric("proved_weighted_cosine"));
  for (const float scale : {1.0f, 1e6f, 1e10f, 1e25f}) {
    Data base = dataOf(kKinds[0].second, 3000, 16, 1),
         queries = dataOf(kKinds[0].second, 45, 16, 2);
    for (Data *data : {&base, &queries})
      for (int64_t row = 0; row < data->rows; row += 7)
        data->values[size_t(row * 16 + 5)] *= scale;
    const Index index = indexOf(base, 4);
    std::vector<float> w(16, 1.0f);
    w[5] = 0, w[6] = 1e-7f;
    const FoundBits expected = searchWith(metric, w, index, queries, "groups");
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(expected, searchWith(metric, w, index, queries, scale > 1e20f ? "" : "matrix"))
          << scale;
  }
}

/// Large weights make of squares below the normal range lengths in the range of bounds.
TEST(RatioLimits, CountsWhatSquaresLoseWithLargeWeights) {
  const Metric metric = compiled(provedMetric("proved_similarity"));
  for (const float scale : {1e-23f, 1e-21f, 1e-18f, 1e-15f, 1e-12f}) {
    Data base = dataOf(kKinds[0].second, 3000, 16, 1),
         queries = dataOf(kKinds[0].second, 45, 16, 2);
    for (std::vector<float> *values : {&base.values, &queries.values})
      for (float &value : *values)
        value *= scale;
    const Index index = indexOf(base, 4);
    const std::vector<float> w(16, 1e21f);
    const FoundBits expected = searchWith(metric, w, index, queries, "groups");
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(expected, searchWith(metric, w, index, queries, "matrix")) << scale;
  }
}

/// Vectors of which little or nothing is left without their means, and some whose sums are no
/// numbers.
Data nearlyConstant(int64_t rows, int32_t dims, unsigned seed, bool overflow) {
  Data data = dataOf(kKinds[0].second, rows, dims, seed);
  std::mt19937 random(seed);
  for (int64_t row = 0; row < rows; ++row) {
    constexpr float kScales[] = {0, 1e-30f, 1e-7f, 1e-4f, 0.01f, 0.1f, 0.25f, 1, 1, 1, 1e9f};
    const float scale = kScales[random() % std::size(kScales)];
    const float mean = random() % 3 != 0 ? float(random() % 7) - 3 : 0;
    for (int32_t d = 0; d < dims; ++d) {
      float &value = data.values[size_t(row * dims + d)];
      value = value * scale + mean;
    }
    const unsigned odd = random() % 40;
    if (odd < 2 && overflow)
      data.values[size_t(row * dims + random() % unsigned(dims))] = odd == 0 ? 3e38f : -1e20f;
  }
  return data;
}

TEST(RatioLimits, TakesVectorsThatAreNearlyConstant) {
  const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  const Metric metric = compiled(provedMetric("proved_correlation"));
  for (const int32_t dims : {1, 2, 3, 16, 33, 130})
    for (unsigned seed = 0; seed < 4; ++seed) {
      // Rows that are so large leave no shift, and the planner no products.
      const bool overflow = seed % 2 == 1;
      const char *const family = overflow ? "" : "matrix";
      const Data base = nearlyConstant(1500, dims, seed, overflow),
                 queries = nearlyConstant(60, dims, 90 + seed, true);
      const Index index = indexOf(base, 3);
      for (const cpu::ProductKernels *kernels : cpu::availableKernels()) {
        const WithProducts with(kernels->name);
        for (const int k : {1, 10, 1500})
          for (int time = 0; time < 2; ++time)
            ASSERT_EQ(
                search(*backend, index, metric, queries, k, {.candidates = Lists{3}}, "groups"),
                search(*backend, index, metric, queries, k, {.candidates = Lists{3}}, family))
                << dims << " dims, " << seed << ", k " << k << ", " << kernels->name;
      }
    }
}

TEST(RatioLimits, SaysWhyNot) {
  const Data base = dataOf(kKinds[0].second, 6000, 4, 1),
             queries = dataOf(kKinds[0].second, 600, 4, 2);
  const Index index = indexOf(base, 3);
  const auto whyNot = [&](const char *name, const std::vector<float> &w) {
    const Metric metric = compiled(provedMetric(name));
    const std::string why =
        errorOf([&] { (void)searchWith(metric, w, index, queries, "matrix"); }, ErrorKind::Input);
    SearchStats stats;
    (void)searchWith(metric, w, index, queries, "", &stats);
    EXPECT_EQ(stats.family, "groups");
    const std::string begin = "family 'matrix' cannot run this search: ";
    if (cpu::matrixKernels().cost != 0)
      EXPECT_EQ("600.0 queries a row; not matrix: " + why.substr(begin.size()), stats.why);
    return why.substr(begin.size());
  };
  EXPECT_EQ(whyNot("proved_chord", {1, 1, 1, 1}),
            "finalize gives NaN for a ratio just outside its range, which rounding may produce");
  EXPECT_EQ(whyNot("proved_similarity", {1, 1, -1, 1}),
            "the square of a length has a negative factor of x^2 in dimension 2");
  EXPECT_EQ(whyNot("proved_similarity", {1, 1e-36f, 1, 1}),
            "a coefficient is beyond 1e-30 to 1e30 in dimension 1");
  EXPECT_EQ(whyNot("proved_similarity", {1, 1, 1, 1e29f}),
            "its coefficients or the rows' mean are too large for a bound");
}

/// Ratios that finalize takes to equal distances are one limit.
TEST(RatioLimits, FindsTheLimitsOfDistances) {
  const Metric metric = compiled(provedMetric("proved_weighted_cosine"));
  const std::vector<float> w = {1, 1};
  const BoundCaptures captures = BoundCaptures::bindViews(
      metric.artifact.manifest, 2, {{"w", runtime::test::given("f32", {2}, w.data(), 2)}});
  const auto ratio =
      bindRatio(*metric.artifact.manifest.form, captures, 2, ANNUDF_ORDER_MIN, nullptr);
  ASSERT_TRUE(ratio);
  const auto kernel = cpu::compileScan(metric, {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F32});
  const cpu::RatioLimits limits(*kernel, *ratio, ANNUDF_ORDER_MIN, nullptr, 0);
  EXPECT_TRUE(limits.areNumbers());
  // The sign is turned around; from a ratio of a half on, and just below it, the distance is one.
  const float half = limits.ofDistance(0.5f);
  EXPECT_GT(half, -0.5f);
  EXPECT_LE(half, -0.5f + 0x1p-25f);
  EXPECT_EQ(limits.ofDistance(INFINITY), INFINITY);
  EXPECT_EQ(limits.ofDistance(3), INFINITY);
  EXPECT_EQ(limits.ofDistance(0.25f), -INFINITY);
  for (const float distance : {0.5f, 0.75f, 1.0f - 0x1p-24f, 1.0f, 1.5f, 2.0f}) {
    const float limit = limits.ofDistance(distance);
    EXPECT_LE(1 + limit, distance);
    EXPECT_GT(1 + std::nextafter(limit, 9.0f), distance);
  }
  EXPECT_GT(limits.ofRatio(-1e-10f), -1e-10f); // 1 less 10⁻¹⁰ is 1.
  EXPECT_EQ(limits.ofRatio(-0.25f), -0.25f + 0x1p-25f);
  EXPECT_EQ(limits.ofRatio(-0.75f), half);
  EXPECT_EQ(limits.ofRatio(-INFINITY), half);
  EXPECT_EQ(limits.ofRatio(9), INFINITY);
  EXPECT_EQ(limits.ofRatio(NAN), INFINITY);
}

} // namespace
