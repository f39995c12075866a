//===- MergePartsTest.cpp - Joining partial results in the C API ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"
#include "runtime/MergeTesting.h"

using namespace annudf;
using namespace annudf::test;

namespace {

annudf_partial_results partsOf(const MergeCase &one) {
  annudf_partial_results parts = {};
  parts.size = sizeof parts;
  parts.ids = one.ids.data(), parts.distances = one.distances.data();
  parts.parts = one.parts, parts.queries = one.queries, parts.k = one.found;
  parts.translations = one.translations.empty() ? nullptr : one.translations.data();
  parts.order = one.order, parts.threads = 2;
  return parts;
}

TEST(CApiMergeParts, EqualsASort) {
  forMergeCases(400, [](const MergeCase &one) {
    std::vector<int64_t> ids(size_t(one.queries * one.k), -7);
    std::vector<float> distances(ids.size(), -7);
    const annudf_partial_results parts = partsOf(one);
    ASSERT_EQ(outcome(annudf_merge_parts(nullptr, &parts, one.k, ids.data(), distances.data())),
              "ok");
    one.check(ids, distances);
  });
}

/// Rows in parts, merged, are the rows as a whole.
TEST(CApiMergeParts, SearchesOfPartsAreASearchOfAll) {
  OwnedBackend backend;
  openCpu(2, &backend);
  if (!backend)
    GTEST_SKIP() << "no CPU backend in this build";
  constexpr int64_t kRows = 900, kWide = 12, kParts = 3, kAsked = 20, k = 17;
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, kWide, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kAsked, kWide, 2);
  const annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  OwnedArtifact l2;
  load("l2", &l2);
  Found all = foundFor(queries, k), merged = all;
  ASSERT_EQ(outcome(annudf_brute_force_knn(backend, l2, nullptr, &rows, &asked, k, nullptr,
                                           all.ids.data(), all.distances.data(), nullptr)),
            "ok");
  std::vector<int64_t> ids(size_t(kParts * kAsked * k)), translations;
  std::vector<float> distances(ids.size());
  for (int64_t part = 0; part < kParts; ++part) {
    translations.push_back(part * (kRows / kParts));
    annudf_vectors some = rows;
    some.rows = kRows / kParts;
    some.data = static_cast<const float *>(rows.data) + translations.back() * kWide;
    const int64_t at = part * kAsked * k;
    ASSERT_EQ(outcome(annudf_brute_force_knn(backend, l2, nullptr, &some, &asked, k, nullptr,
                                             ids.data() + at, distances.data() + at, nullptr)),
              "ok");
  }
  annudf_partial_results parts = {};
  parts.size = sizeof parts;
  parts.ids = ids.data(), parts.distances = distances.data();
  parts.parts = kParts, parts.queries = kAsked, parts.k = k;
  parts.translations = translations.data();
  ASSERT_EQ(
      outcome(annudf_merge_parts(backend, &parts, k, merged.ids.data(), merged.distances.data())),
      "ok");
  EXPECT_EQ(merged, all);
}

TEST(CApiMergeParts, Refuses) {
  std::mt19937_64 random(1);
  const MergeCase one(random, 2, 1, 3, 3, 5, false);
  annudf_partial_results parts = partsOf(one);
  int64_t ids[3];
  float distances[3];
  const auto merged = [&](int64_t k) {
    return outcome(annudf_merge_parts(nullptr, &parts, k, ids, distances));
  };
  EXPECT_EQ(merged(3), "ok");
  EXPECT_EQ(merged(0), "usage: k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(outcome(annudf_merge_parts(nullptr, nullptr, 3, ids, distances)),
            "usage: annudf_merge_parts: parts is NULL");
  parts.order = 7;
  EXPECT_EQ(merged(3),
            "usage: annudf_merge_parts: parts.order is 7; use a value of enum annudf_order");
  parts.order = 0, parts.place.memory = 9;
  EXPECT_EQ(
      merged(3),
      "usage: annudf_merge_parts: parts.place.memory is 9; use a value of enum annudf_memory");
  parts.place.memory = ANNUDF_MEMORY_CUDA;
  EXPECT_EQ(merged(3), "usage: annudf_merge_parts: backend is NULL, parts is in memory of CUDA "
                       "device 0; give the backend of that device");
  parts.place.memory = ANNUDF_MEMORY_HOST, parts.ids = nullptr;
  EXPECT_EQ(merged(3), "usage: annudf_merge_parts: parts.ids is NULL");
}

} // namespace
