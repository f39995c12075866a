//===- CppTest.cpp - annudf.hpp throws annudf::Error and nothing else -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header alone, as a caller has it: annudf's own names would meet it.
//
//===----------------------------------------------------------------------===//

#include "annudf-c/annudf.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace {

constexpr int64_t kDims = 4;

/// What `call` throws: its status and text.
template <typename Call> std::string errorOf(Call call) {
  try {
    call();
  } catch (const annudf::Error &error) {
    return std::to_string(error.code()) + " " + error.what();
  }
  return "nothing";
}

TEST(Cpp, RadiusAndProbes) {
#ifndef ANNUDF_TEST_HAS_CPU
  GTEST_SKIP() << "the CPU backend is not in this build: radius search is NOT checked";
#endif
  std::vector<float> data(100 * kDims);
  for (size_t i = 0; i < data.size(); ++i) {
    const size_t row = i / kDims;
    data[i] = float(row);
  }
  const annudf::Vectors rows(std::span<const float>(data), kDims);
  const annudf::IvfFlat index = annudf::IvfFlat::build(rows, 5);
  const annudf::Artifact metric = annudf::Artifact::load(ANNUDF_TEST_GOLDEN);
  const annudf::Backend cpu = annudf::Backend::cpu(1);
  const std::vector<float> ones(kDims, 1.0f);
  const annudf::Captures captures = annudf::Captures::bind(
      metric, index.extents(), {annudf::CaptureValue::array("w", std::span<const float>(ones))});
  // Row i is i in each coordinate, so its distance to row 50 is kDims (i - 50)^2.
  const annudf::Vectors query(data.data() + 50 * kDims, 1, kDims, ANNUDF_ELEMENT_F32);
  const annudf::RadiusNeighbors found =
      index.radiusNeighbors(cpu, metric, &captures, query, 4.0f * kDims, 5);
  EXPECT_EQ(found.offsets, (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(found.ids, (std::vector<int64_t>{50, 49, 51, 48, 52}));
  EXPECT_EQ(found.distances, (std::vector<float>{0, 4, 4, 16, 16}));
  const int64_t probes = index.tuneProbes(cpu, metric, &captures, rows, 3, 1.0);
  EXPECT_TRUE(probes >= 1 && probes <= 5) << probes;
  EXPECT_EQ(errorOf([&] { (void)index.tuneProbes(cpu, metric, &captures, rows, 3, 2.0); }),
            std::to_string(ANNUDF_USAGE) + " recall = 2.000000: must be above 0 and at most 1");
}

/// Of vectors and a filter it finds what a search of all lists of an index finds.
TEST(Cpp, Knn) {
#ifndef ANNUDF_TEST_HAS_CPU
  GTEST_SKIP() << "the CPU backend is not in this build: exact searches are NOT checked";
#endif
  std::vector<float> data(40 * kDims);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = float(i * i % 97);
  const annudf::Vectors rows(data.data(), 40, kDims, ANNUDF_ELEMENT_F32);
  const annudf::Vectors queries(data.data(), 5, kDims, ANNUDF_ELEMENT_F32);
  const annudf::Artifact metric = annudf::Artifact::load(ANNUDF_TEST_GOLDEN);
  const annudf::Backend cpu = annudf::Backend::cpu(1);
  const std::vector<float> weights = {1, 2, 3, 4};
  const annudf::Captures captures = annudf::Captures::bind(
      metric, {.dims = kDims}, {annudf::CaptureValue::array("w", std::span<const float>(weights))});
  std::vector<bool> pass(40, true);
  pass[0] = pass[3] = false;
  const annudf::Filter filter = annudf::Filter::fromBooleans(pass);
  const annudf::IvfFlat index = annudf::IvfFlat::build(rows, 4);
  for (const annudf::Filter *given : {static_cast<const annudf::Filter *>(nullptr), &filter}) {
    const annudf::Neighbors found =
        annudf::knn(cpu, metric, &captures, rows, queries, 7, {}, given);
    const annudf::Neighbors expected =
        index.search(cpu, metric, captures, queries, 7, 4, {}, given);
    EXPECT_EQ(found.ids, expected.ids);
    EXPECT_EQ(found.distances, expected.distances);
    EXPECT_EQ(found.ids[0] == 0, given == nullptr);
  }
}

TEST(Cpp, TypesOfCaptures) {
  using annudf::detail::dtypeOf;
  EXPECT_STREQ(dtypeOf<annudf::Half>(), "f16");
  EXPECT_STREQ(dtypeOf<annudf::Bfloat16>(), "bf16");
  EXPECT_STREQ(dtypeOf<bool>(), "b1");
  EXPECT_STREQ(dtypeOf<int64_t>(), "i64");
  EXPECT_STREQ(dtypeOf<uint16_t>(), "u16");
}

TEST(Cpp, RowsThatNoVectorHasAreErrors) {
#ifndef ANNUDF_TEST_HAS_CPU
  GTEST_SKIP() << "the CPU backend is not in this build: rows of searches are NOT checked";
#endif
  const std::vector<float> data(8 * kDims, 1.0f);
  const auto rows = [&](int64_t count) {
    return annudf::Vectors(data.data(), count, kDims, ANNUDF_ELEMENT_F32);
  };
  annudf::IvfFlat index = annudf::IvfFlat::build(rows(8), 1);
  const annudf::Artifact metric = annudf::Artifact::load(ANNUDF_TEST_GOLDEN);
  const annudf::Backend cpu = annudf::Backend::cpu(1);
  const std::string usage = std::to_string(ANNUDF_USAGE) + " ";
  const auto search = [&](int64_t count, int64_t k) {
    return errorOf([&] { (void)index.search(cpu, metric, rows(count), k, 1); });
  };
  const std::string most = std::to_string(std::vector<int64_t>().max_size());
  const std::string tooMany = std::to_string(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(search(-1, 1), usage + "queries: rows = -1: must be between 0 and " + most);
  EXPECT_EQ(search(std::numeric_limits<int64_t>::min(), 1),
            usage + "queries: rows = -9223372036854775808: must be between 0 and " + most);
  EXPECT_EQ(search(std::numeric_limits<int64_t>::max(), 1024),
            usage + "queries: rows = " + tooMany + ": must be between 0 and " +
                std::to_string(std::vector<int64_t>().max_size() / 1024));
  EXPECT_EQ(search(8, 0), usage + "k = 0: must be between 1 and 1073741824");
  EXPECT_EQ(search(8, -1), usage + "k = -1: must be between 1 and 1073741824");
  const auto pairs = [&](int64_t x, int64_t y) {
    return errorOf([&] { (void)annudf::pairwiseDistance(cpu, metric, nullptr, rows(x), rows(y)); });
  };
  EXPECT_EQ(pairs(-1, 8), usage + "-1 x 8 distances are more than a vector holds");
  EXPECT_EQ(pairs(8, -2), usage + "8 x -2 distances are more than a vector holds");
  EXPECT_EQ(pairs(std::numeric_limits<int64_t>::max(), 8),
            usage + tooMany + " x 8 distances are more than a vector holds");
  // The C API's own checks.
  EXPECT_NE(errorOf([&] { (void)annudf::IvfFlat::build(rows(-1), 1); }), "nothing");
  EXPECT_NE(errorOf([&] { index.extend(rows(-1)); }), "nothing");
}

} // namespace
