//===- FilterTest.cpp - Filters through the C API -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <array>
#include <regex>

using namespace annudf;
using namespace annudf::test;

namespace {

TEST(CApiFilter, BitsAndBytesAreTheSame) {
  const std::array<uint32_t, 2> words = {0x80000001u, 0xFFFFFFFFu};
  std::array<uint8_t, 34> bytes = {};
  bytes[0] = 1, bytes[31] = 7, bytes[32] = 255, bytes[33] = 1;
  OwnedFilter bits, fromBytes, both, either, none;
  ASSERT_EQ(outcome(annudf_filter_from_bitset(words.data(), 34, &bits)), "ok");
  ASSERT_EQ(outcome(annudf_filter_from_bytes(bytes.data(), 34, &fromBytes)), "ok");
  for (const annudf_filter *filter : {(annudf_filter *)bits, (annudf_filter *)fromBytes}) {
    EXPECT_EQ(annudf_filter_get(filter)->bits, 34);
    EXPECT_EQ(annudf_filter_get(filter)->count, 4);
  }
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_AND, bits, fromBytes, &both)), "ok");
  EXPECT_EQ(annudf_filter_get(both)->count, 4);
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_NOT, bits, nullptr, &none)), "ok");
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_AND, bits, none, &both)), "ok");
  EXPECT_EQ(annudf_filter_get(both)->count, 0);
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_OR, bits, none, &either)), "ok");
  EXPECT_EQ(annudf_filter_get(either)->count, 34);
}

TEST(CApiFilter, RefusesWhatIsNoFilter) {
  const uint32_t word = 1;
  const uint8_t byte = 1;
  OwnedFilter one, two, out;
  ASSERT_EQ(outcome(annudf_filter_from_bitset(&word, 1, &one)), "ok");
  ASSERT_EQ(outcome(annudf_filter_from_bitset(&word, 2, &two)), "ok");
  EXPECT_NE(annudf_filter_from_bitset(nullptr, 1, &out), ANNUDF_OK);
  EXPECT_NE(annudf_filter_from_bitset(&word, 1, nullptr), ANNUDF_OK);
  EXPECT_NE(annudf_filter_from_bitset(&word, 0, &out), ANNUDF_OK);
  EXPECT_STREQ(annudf_last_error(),
               "bits is 0, it must be an integer from 1 to 9223372036854775776");
  EXPECT_NE(annudf_filter_from_bytes(&byte, -1, &out), ANNUDF_OK);
  EXPECT_NE(annudf_filter_from_bytes(nullptr, 1, &out), ANNUDF_OK);
  EXPECT_EQ(annudf_filter_combine(ANNUDF_FILTER_AND, one, two, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(),
               "filters of 1 and 2 bits cannot be joined by &; make them for the same index");
  EXPECT_EQ(annudf_filter_combine(ANNUDF_FILTER_OR, one, nullptr, &out), ANNUDF_USAGE);
  EXPECT_EQ(outcome(annudf_filter_combine(7, one, one, &out)),
            "usage: annudf_filter_combine: how is 7; use a value of enum annudf_filter_join");
  EXPECT_EQ(annudf_filter_combine(ANNUDF_FILTER_NOT, nullptr, nullptr, &out), ANNUDF_USAGE);
  EXPECT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_NOT, one, one, &out)),
            "usage: annudf_filter_combine: b is a filter, but how is ANNUDF_FILTER_NOT; give NULL");
  EXPECT_EQ((annudf_filter *)out, nullptr);
  EXPECT_EQ(annudf_filter_get(nullptr), nullptr);
  annudf_filter_destroy(nullptr);
}

TEST(CApiFilter, SearchesFindWhatPasses) {
  OwnedBackend backend;
  openCpu(2, &backend);
  if (!backend)
    return;
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 400, 5, 1);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 3, 5, 2);
  const annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  OwnedIndex index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 4, nullptr, &index, nullptr)), "ok");
  const TestMetric &test = testMetric("l2");
  OwnedArtifact artifact;
  load(test.name, &artifact);
  std::vector<uint8_t> third(400);
  std::vector<int64_t> passing;
  for (int64_t id = 0; id < 400; id += 3)
    third[size_t(id)] = 1, passing.push_back(id);
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  Found found = foundFor(queries, 200);
  {
    OwnedFilter filter;
    ASSERT_EQ(outcome(annudf_filter_from_bytes(third.data(), 400, &filter)), "ok");
    options.filter = filter;
    ASSERT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, nullptr, &asked, 200, 4, &options,
                                       found.ids.data(), found.distances.data(), nullptr)),
        "ok");
  }
  for (int64_t q = 0; q < 3; ++q)
    EXPECT_EQ("", reference::check(base, passing, queries.row(q), 200, test.order, test.distance,
                                   &found.ids[size_t(q * 200)], &found.distances[size_t(q * 200)]));
  // A caller of an older header gives options that end before `filter`: none.
  options.size = offsetof(annudf_ivf_flat_search_options, filter);
  options.filter = reinterpret_cast<const annudf_filter *>(uintptr_t(1));
  EXPECT_EQ(
      outcome(annudf_ivf_flat_search(backend, index, artifact, nullptr, &asked, 200, 4, &options,
                                     found.ids.data(), found.distances.data(), nullptr)),
      "ok");
  EXPECT_EQ(std::count(found.ids.begin(), found.ids.end(), -1), 0);
}

/// A filter and a metric, and an index of 50 rows.
class CApiFilterCode : public testing::Test {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 4, nullptr, &index, nullptr)), "ok");
    toHandle(evenRows(readBitcode("even_rows")), &even);
    load("l2", &l2);
  }
  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 50, 5, 1);
  const annudf_vectors rows = vectorsOf(base);
  OwnedBackend backend;
  OwnedIndex index;
  OwnedArtifact even, l2;
};

TEST_F(CApiFilterCode, ComputesBits) {
  EXPECT_EQ(annudf_artifact_get(even)->role, ANNUDF_ROLE_FILTER);
  EXPECT_EQ(annudf_artifact_get(l2)->role, ANNUDF_ROLE_SCAN);
  OwnedFilter half, more, out;
  ASSERT_EQ(outcome(annudf_ivf_flat_filter(backend, index, even, nullptr, 0, nullptr, &half)),
            "ok");
  EXPECT_EQ(annudf_filter_get(half)->bits, 50);
  EXPECT_EQ(annudf_filter_get(half)->count, 25);
  ASSERT_EQ(outcome(annudf_ivf_flat_filter(backend, index, even, nullptr, 77, nullptr, &more)),
            "ok");
  EXPECT_EQ(annudf_filter_get(more)->bits, 77);
  EXPECT_EQ(annudf_filter_get(more)->count, 25);
  std::vector<uint8_t> bytes(50);
  for (size_t id = 0; id < 50; id += 2)
    bytes[id] = 1;
  OwnedFilter expected, rest;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(bytes.data(), 50, &expected)), "ok");
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_AND, half, expected, &rest)), "ok");
  EXPECT_EQ(annudf_filter_get(rest)->count, 25);

  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, even, nullptr, 49, nullptr, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "the filter has 49 bits, the largest id of the index is "
                                    "49; give it a bit for every id");
  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, even, nullptr, -1, nullptr, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "bits is -1, it must be an integer from 0 to 34359738368");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  options.filter = half;
  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, even, nullptr, 0, &options, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "annudf_ivf_flat_filter: options.filter is set; a filter with "
                                    "code is computed for every row, so leave it out");
  EXPECT_EQ(annudf_ivf_flat_filter(nullptr, index, even, nullptr, 0, nullptr, &out), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_filter(backend, nullptr, even, nullptr, 0, nullptr, &out),
            ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, nullptr, nullptr, 0, nullptr, &out),
            ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, even, nullptr, 0, nullptr, nullptr),
            ANNUDF_USAGE);
  EXPECT_EQ((annudf_filter *)out, nullptr);
  annudf_ivf_flat_build_options empty = {};
  empty.size = sizeof empty;
  empty.train_only = 1;
  OwnedIndex centers;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 4, &empty, &centers, nullptr)), "ok");
  EXPECT_EQ(annudf_ivf_flat_filter(backend, centers, even, nullptr, 0, nullptr, &out),
            ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "the index has no rows to filter; add some first");
}

/// Neither is taken for the other, whichever way it comes.
TEST_F(CApiFilterCode, AndMetricsAreToldApart) {
  OwnedFilter out;
  EXPECT_EQ(annudf_ivf_flat_filter(backend, index, l2, nullptr, 0, nullptr, &out), ANNUDF_INPUT);
  EXPECT_TRUE(std::regex_match(
      annudf_last_error(),
      std::regex("metric 'l2' \\(.*\\) gives distances and cannot filter; write an annudf.filter")))
      << annudf_last_error();
  EXPECT_EQ((annudf_filter *)out, nullptr);
  Found found = foundFor(base, 50);
  const std::regex refused("filter 'even_rows' \\(.*\\) gives no distances; search with a metric, "
                           "and pass this as the filter");
  const auto isRefused = [&](annudf_status status) {
    EXPECT_EQ(status, ANNUDF_INPUT);
    EXPECT_TRUE(std::regex_match(annudf_last_error(), refused)) << annudf_last_error();
  };
  isRefused(annudf_ivf_flat_search(backend, index, even, nullptr, &rows, 2, 1, nullptr,
                                   found.ids.data(), found.distances.data(), nullptr));
  isRefused(annudf_ivf_flat_distances(backend, index, even, nullptr, &rows, nullptr,
                                      found.distances.data(), nullptr));
  isRefused(annudf_brute_force_knn(backend, even, nullptr, &rows, &rows, 2, nullptr,
                                   found.ids.data(), found.distances.data(), nullptr));
  isRefused(annudf_pairwise_distance(backend, even, nullptr, &rows, &rows, nullptr,
                                     found.distances.data(), nullptr));
  // Its kernel may be made ahead all the same.
  EXPECT_EQ(outcome(annudf_ivf_flat_precompile(backend, even, ANNUDF_ELEMENT_F32, 0, nullptr)),
            "ok");
}

} // namespace
