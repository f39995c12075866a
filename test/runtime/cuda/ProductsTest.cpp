//===- ProductsTest.cpp - Searches by bounds of matrix products, on a GPU ---===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families "matrix", of a GPU of sm_90, and "matrix_mma", of one of sm_80 or newer, against
// "pairs", to the bit. Needs such a GPU and the artifacts of scripts/gpu artifacts, as forms come
// from the compiler; without one of them every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "CompiledMetrics.h"
#include "SharedBackend.h"

#include "cuda/driver/Driver.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

class CudaProduct : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    REQUIRE_COMPILED_METRICS(folder, "weighted_l2.annudf", "searches by matrix products are");
    REQUIRE_GPU("searches by matrix products are");
    if (family == std::string("matrix") ? backend->arch() != 90 : backend->arch() < 80)
      GTEST_SKIP() << "sm_" << backend->arch() << " has no such products: searches by " << family
                   << " are NOT checked";
  }
  Metric read(const std::string &name) const {
    return Metric::fromFile(folder + "/" + name + ".annudf");
  }
  /// "" where the family finds what pairs do.
  std::string difference(const Index &index, const Metric &metric,
                         const reference::Vectors &queries, int k, uint32_t probes,
                         const std::shared_ptr<const RowFilter> &filter = {}) const {
    return differenceFromPairs(
        *backend, index, metric, queries, k,
        {.candidates = Lists{std::min(probes, index.nLists())}, .filter = filter}, family);
  }
  /// Metrics of one field, and normalised ones.
  static constexpr const char *kProved[] = {"l2", "weighted_l2", "inner_product"};
  static constexpr const char *kNormalised[] = {"cosine", "weighted_cosine", "weighted_similarity",
                                                "pearson"};
  /// Metrics of one field, with entries by query.
  static constexpr const char *kOwn[] = {"personal_l2", "personal_inner_product", "personal_mix"};
  /// Elements, dims, queries and k of every kind. \returns how many searches were the same.
  int agreeing(const char *name) const;
  void whateverTheData(const char *name) const;
  std::string folder;
  const char *const family = GetParam();
  CudaBackend *const backend = sharedBackend();
};

/// Floats, changed by `change(value, row, dim)`.
template <class Change> reference::Vectors changed(reference::Vectors vectors, Change change) {
  auto *floats = reinterpret_cast<float *>(vectors.encoded.data());
  for (int64_t row = 0; row < vectors.rows; ++row)
    for (int32_t d = 0; d < vectors.dims; ++d) {
      float &value = floats[row * vectors.dims + d];
      value = change(value, row, d);
      vectors.values[size_t(row * vectors.dims + d)] = value;
    }
  return vectors;
}

int CudaProduct::agreeing(const char *name) const {
  int cells = 0;
  const Metric metric = read(name);
  for (const annudf_element element :
       {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_I8})
    for (const int32_t dims : {1, 3, 16, 33, 96, 128, 257, 1024}) {
      const auto base = reference::randomVectors(element, 3000, dims, uint64_t(dims) * 8 + 1);
      // Lists of 90 to 3000 rows: tiles and segments with ends of every kind.
      const Index index = build(base, dims % 2 ? 1 : 33);
      for (const int64_t count : {5, 70, 300})
        for (const int k : {1, 10, 100}) {
          const auto queries = reference::randomVectors(element, count, dims, 9);
          EXPECT_EQ(difference(index, metric, queries, k, count == 70 ? 33 : 5), "")
              << name << " " << toString(element) << " dims " << dims << " queries " << count
              << " k " << k;
          if (HasFailure())
            return cells;
          ++cells;
        }
    }
  return cells;
}

void CudaProduct::whateverTheData(const char *name) const {
  const struct {
    const char *name;
    float (*change)(float, int64_t, int32_t);
    bool mayBeRefused =
        false; ///< For normalised forms: a row far from most, or squares near the largest.
  } kinds[] = {
      {"far from the origin", [](float v, int64_t, int32_t) { return v + 1e4F; }},
      {"all equal", [](float, int64_t, int32_t d) { return float(d); }},
      {"64 of each", [](float v, int64_t row, int32_t d) { return row < 64 ? v : float(d % 7); }},
      {"one huge row", [](float v, int64_t row, int32_t) { return row == 100 ? v * 1e15F : v; },
       true},
      {"one that overflows", [](float v, int64_t row, int32_t) { return row == 99 ? 3e38F : v; },
       true},
      {"denormal", [](float v, int64_t, int32_t) { return v * 1e-40F; }},
      {"tiny", [](float v, int64_t, int32_t) { return v * 1e-22F; }},
      {"large", [](float v, int64_t, int32_t) { return v * 1e17F; }, true},
      {"two scales", [](float v, int64_t, int32_t d) { return d % 2 ? v * 1e6F : v * 1e-6F; }},
      {"some of zeros", [](float v, int64_t row, int32_t) { return row % 7 == 3 ? 0 : v; }},
      {"almost parallel",
       [](float v, int64_t row, int32_t d) { return float(d + 1) * float(row + 1) + v * 1e-6F; }},
  };
  const Metric metric = read(name);
  for (const auto &kind : kinds)
    for (const int32_t dims : {24, 130}) {
      const auto base = changed(
          reference::randomVectors(ANNUDF_ELEMENT_F32, 4000, dims, uint64_t(dims)), kind.change);
      const auto queries =
          changed(reference::randomVectors(ANNUDF_ELEMENT_F32, 150, dims, 5), kind.change);
      const Index index = build(base, 17);
      for (const int k : {1, 10, 200})
        try {
          EXPECT_EQ(difference(index, metric, queries, k, 6), "")
              << name << ", " << kind.name << ", dims " << dims << ", k " << k;
        } catch (const Error &error) { // Another family runs it where none is named.
          EXPECT_EQ(error.what(), "family '" + std::string(family) +
                                      "' cannot run this search: its coefficients or the rows' "
                                      "mean are too large for a bound");
          EXPECT_TRUE(metric.artifact.manifest.form->lengths && kind.mayBeRefused)
              << name << ", " << kind.name;
        }
    }
}

} // namespace

TEST_P(CudaProduct, AgreesWithPairsToTheBit) {
  for (const char *name : kProved)
    EXPECT_EQ(agreeing(name), 288) << name;
}

TEST_P(CudaProduct, OfNormalisedFormsAgreesWithPairsToTheBit) {
  for (const char *name : kNormalised)
    EXPECT_EQ(agreeing(name), 288) << name;
}

TEST_P(CudaProduct, OfEachQueryAgreesWithPairsToTheBit) {
  for (const char *name : kOwn)
    EXPECT_EQ(agreeing(name), 288) << name;
}

TEST_P(CudaProduct, OfEachQueryWhateverTheData) {
  for (const char *name : kOwn)
    whateverTheData(name);
}

/// Rows are made once, whatever the values; NaN, infinities, 0 and large weights.
TEST_P(CudaProduct, OfEachQueryWhateverTheWeights) {
  const Metric metric = read("personal_l2");
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 4000, 96, 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 140, 96, 4);
  const Index index = build(base, 17);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const float scale : {1.0F, 1e-20F, 1e6F, 1e15F, 1e30F, 0.0F, INFINITY, NAN})
    for (const int every : {1, 9}) {
      std::vector<float> weights(size_t(queries.rows * 96));
      for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = normal(random) * (i / 96 % size_t(every) == 0 ? scale : 1);
      NumericArray array{"f32", {queries.rows, 96}, {}, "test"};
      array.storage.resize(weights.size() * sizeof(float));
      std::memcpy(array.storage.data(), weights.data(), array.storage.size());
      const auto captures = BoundCaptures::bind(metric.artifact.manifest, {96, 0, queries.rows},
                                                {{"w", array}}, true);
      for (const int k : {1, 10})
        EXPECT_EQ(differenceFromPairs(*backend, index, metric, captures, queries, k,
                                      {.candidates = Lists{5}}, family),
                  "")
            << "weights of " << scale << ", every " << every << ", k " << k;
    }
}

/// Queries of a later batch have the weights of their own numbers.
TEST_P(CudaProduct, OfEachQueryInSeveralBatches) {
  ::setenv("ANNUDF_WORKSPACE_MIB", "1", 1);
  const auto few = makeCudaDeviceBackend();
  ::unsetenv("ANNUDF_WORKSPACE_MIB");
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 32, 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 32, 4);
  const Index index = build(base, 20);
  for (const char *name : kOwn)
    EXPECT_EQ(
        differenceFromPairs(*few, index, read(name), queries, 10, {.candidates = Lists{8}}, family),
        "")
        << name;
}

/// What nobody looks at before a search, the kernels read.
TEST_P(CudaProduct, OfCapturesOnTheDevice) {
  using cuda::Driver, cuda::check;
  const Metric metric = read("weighted_l2");
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 70, 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 130, 70, 4);
  const Index index = build(base, 20);
  const auto context = std::make_shared<const cuda::Context>(backend->device());
  const cuda::ContextScope scope(*context);
  const cuda::Buffer weights(context, 70 * sizeof(float));
  CaptureValue value;
  value.dtype = "f32", value.shape = {70}, value.bytes = 70 * sizeof(float), value.origin = "test";
  value.data = reinterpret_cast<const void *>(weights.device()); // NOLINT
  value.space = MemorySpace::Cuda, value.device = backend->device();
  const auto captures = BoundCaptures::bindViews(metric.artifact.manifest, 70, {{"w", value}});
  for (const float scale : {1.0F, -3.0F, NAN}) {
    std::vector<float> values(70);
    for (int32_t d = 0; d < 70; ++d)
      values[size_t(d)] = weightOf(d) * scale;
    ANNUDF_CUDA(cuMemcpyHtoD, weights.device(), values.data(), weights.size());
    EXPECT_EQ(differenceFromPairs(*backend, index, metric, captures, queries, 10,
                                  {.candidates = Lists{5}}, family),
              "")
        << scale;
  }
}

TEST_P(CudaProduct, WhateverTheData) {
  for (const char *name : kProved)
    whateverTheData(name);
}

TEST_P(CudaProduct, OfNormalisedFormsWhateverTheData) {
  for (const char *name : kNormalised)
    whateverTheData(name);
}

TEST_P(CudaProduct, FiltersHold) {
  for (const char *name : {"weighted_l2", "weighted_similarity", "pearson", "personal_l2"}) {
    const Metric metric = read(name);
    const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, 96, 3);
    const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 130, 96, 4);
    const Index index = build(base, 20);
    for (const uint32_t word : {0xfffffffeU, 0x77777777U, 0x00000100U, 0U}) {
      const std::vector<uint32_t> words(size_t(RowFilter::wordsFor(3000)), word);
      EXPECT_EQ(
          difference(index, metric, queries, 10, 8, std::make_shared<const RowFilter>(words, 3000)),
          "")
          << name << " " << word;
    }
  }
}

TEST_P(CudaProduct, TellsHowManyRowsWereComputed) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 20000, 64, 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 64, 9);
  const Index index = build(base, 8);
  const Metric metric = read("weighted_l2");
  const int k = 10;
  std::vector<int64_t> ids(size_t(queries.rows) * k);
  std::vector<float> distances(ids.size());
  const auto statsOf = [&](const char *by, bool isTimed) {
    SearchStats stats;
    backend->search(index, metric, bind(metric, queries.dims), view(queries), k,
                    {.candidates = Lists{8}, .family = by, .timeStages = isTimed}, ids.data(),
                    distances.data(), &stats);
    return stats;
  };
  const SearchStats products = statsOf(family, true), all = statsOf("pairs", true);
  EXPECT_EQ(products.rowsPerQuery, 20000);
  EXPECT_GE(products.evaluatedPerQuery, k);
  EXPECT_LT(products.evaluatedPerQuery, 10000);
  EXPECT_EQ(all.evaluatedPerQuery, 20000);
  EXPECT_EQ(statsOf(family, false).evaluatedPerQuery, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, CudaProduct, testing::Values("matrix", "matrix_mma"),
                         [](const auto &info) { return std::string(info.param); });
