//===- LinkedCode.cpp - Metrics that call somebody else's code ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One formula, written plainly and by a call of code that is linked: CUDA C++, LTO-IR, PTX, a
// cubin, from text and from Python (linked_artifacts.py makes them). They find the same.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"

#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int32_t kDims = 40;
constexpr int64_t kRows = 20000;
constexpr int kTop = 10;

std::vector<float> coordinates(int64_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(static_cast<size_t>(rows) * kDims);
  for (float &number : numbers)
    number = uniform(random);
  return numbers;
}

MatrixView view(const std::vector<float> &numbers) {
  return {reinterpret_cast<const std::byte *>(numbers.data()), int64_t(numbers.size()) / kDims,
          kDims, ANNUDF_ELEMENT_F32};
}

const Index &sharedIndex() {
  static const std::vector<float> rows = coordinates(kRows, 1);
  static const Index index = [] {
    IndexParams params;
    params.nLists = 32, params.kmeansIterations = 3;
    return Index::build(params, view(rows));
  }();
  return index;
}

struct Found {
  std::vector<int64_t> ids;
  std::vector<float> distances;
  std::string family;
};

class LinkedCode : public testing::TestWithParam<const char *> {
protected:
  static std::string file(const std::string &name) {
    const char *folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
    return (folder ? folder : "") + ("/linked_" + name + ".annudf");
  }
  void SetUp() override {
    if (!std::filesystem::exists(file("plain")))
      GTEST_SKIP() << "SKIPPED, NOT RUN: there is no " << file("plain")
                   << "; scripts/gpu artifacts makes it";
  }
  static Backend *gpu() {
    std::string why;
    Backend *backend = backendOf(Device::Cuda, &why);
    if (!backend)
      std::printf("SKIPPED, NOT RUN: %s\n", why.c_str());
    return backend;
  }
  static Found search(Backend &backend, const std::string &name, int64_t queries) {
    const Metric metric = Metric::fromFile(file(name));
    const std::vector<float> asked = coordinates(queries, 2);
    SearchParams params;
    params.candidates = Lists{8};
    Found found{std::vector<int64_t>(queries * kTop), std::vector<float>(queries * kTop), {}};
    SearchStats stats;
    backend.search(sharedIndex(), metric,
                   BoundCaptures::bindViews(metric.artifact.manifest, {kDims, kRows, queries}, {}),
                   view(asked), kTop, params, found.ids.data(), found.distances.data(), &stats);
    found.family = stats.family;
    return found;
  }
};

/// With one query, some, and many, which families of kernels share.
TEST_P(LinkedCode, FindsWhatThePlainFormulaFinds) {
  Backend *backend = gpu();
  if (!backend)
    GTEST_SKIP() << "SKIPPED, NOT RUN: no GPU";
  for (const int64_t queries : {1, 20, 600}) {
    const Found plain = search(*backend, "plain", queries);
    const Found linked = search(*backend, GetParam(), queries);
    std::printf("%s: %ld queries, %s, beside %s\n", GetParam(), long(queries),
                linked.family.c_str(), plain.family.c_str());
    EXPECT_EQ(linked.ids, plain.ids) << queries << " queries";
    EXPECT_EQ(linked.distances, plain.distances) << queries << " queries";
    EXPECT_GT(linked.distances.back(), 0);
  }
}

TEST_P(LinkedCode, IsNotMarkedAsVerified) {
  const Metric metric = Metric::fromFile(file(GetParam()));
  EXPECT_FALSE(metric.artifact.manifest.verified);
  EXPECT_TRUE(metric.artifact.hasLinkedCode());
}

TEST_P(LinkedCode, IsRefusedOnACpu) {
  std::string why;
  Backend *backend = backendOf(Device::Cpu, &why);
  if (!backend)
    GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
  try {
    (void)search(*backend, GetParam(), 1);
    FAIL() << "it was searched";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()), file(GetParam()) + ": calls linked device code, which "
                                                            "runs on a GPU only");
  }
}

INSTANTIATE_TEST_SUITE_P(All, LinkedCode,
                         testing::Values("text_cuda_source", "text_numba", "text_ptx",
                                         "python_cuda_source", "python_numba", "python_ltoir",
                                         "python_ptx", "python_cubin"),
                         [](const auto &info) { return std::string(info.param); });

using LinkedFilter = LinkedCode;

TEST_P(LinkedFilter, KeepsWhatThePlainOneKeeps) {
  Backend *backend = gpu();
  if (!backend)
    GTEST_SKIP() << "SKIPPED, NOT RUN: no GPU";
  const std::vector<float> price = coordinates(kRows / kDims, 3);
  auto kept = [&](const char *name) {
    const Metric filter = Metric::fromFile(file(name));
    CaptureValue array;
    array.dtype = "f32", array.shape = {int64_t(price.size())}, array.data = price.data(),
    array.bytes = price.size() * sizeof(float), array.origin = "the test";
    return keptRows(
        *backend, sharedIndex(), filter,
        BoundCaptures::bindViews(filter.artifact.manifest, {kDims, kRows, 1}, {{"price", array}}));
  };
  const RowFilter plain = kept("plain_filter"), linked = kept(GetParam());
  EXPECT_EQ(linked.count(), plain.count());
  EXPECT_GT(plain.count(), kRows / 10);
  EXPECT_LT(plain.count(), kRows);
  for (int64_t id = 0; id < kRows; ++id)
    ASSERT_EQ(linked.passes(id), plain.passes(id)) << "id " << id;
}

INSTANTIATE_TEST_SUITE_P(All, LinkedFilter, testing::Values("python_filter"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
