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

/// Filters that see the query, and an index of 64 rows whose tenants they read.
class CApiPredicate : public testing::Test {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 4, nullptr, &index, nullptr)), "ok");
    toHandle(sameTenant(readBitcode("same_tenant")), &tenant);
    load("l2", &l2);
  }
  /// Rows 0, 2, 4, ... are of tenant 0, the others of tenant 1, by an array or a column of the
  /// index.
  void bindTo(const std::vector<int32_t> &mine, annudf_captures **captures, bool asColumn = false) {
    std::vector<int32_t> tenants(kRows);
    for (int64_t row = 0; row < kRows; ++row)
      tenants[size_t(row)] = int32_t(row % 2);
    const auto value = [](const char *name, const std::vector<int32_t> &values, int64_t *count) {
      *count = int64_t(values.size());
      annudf_capture_value made = {};
      made.size = sizeof made, made.name = name, made.dtype = "i32", made.rank = 1;
      made.shape = count, made.data = values.data(), made.bytes = values.size() * 4;
      return made;
    };
    int64_t ofRows = 0, ofQueries = 0;
    const std::array<annudf_capture_value, 2> values = {value("mine", mine, &ofQueries),
                                                        value("tenant", tenants, &ofRows)};
    const annudf_extents extents = {sizeof extents, 5, kRows, ofQueries};
    const annudf_captures_options options = {sizeof options, 0,
                                             asColumn ? (annudf_ivf_flat_index *)index : nullptr};
    if (asColumn)
      ASSERT_EQ(outcome(annudf_ivf_flat_add_columns(nullptr, index, nullptr, &values[1], 1)), "ok");
    ASSERT_EQ(outcome(annudf_captures_bind(tenant, &extents, values.data(), asColumn ? 1 : 2,
                                           &options, captures)),
              "ok");
  }
  annudf_status search(const annudf_filter *filter, Found &found) {
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options, options.filter = filter;
    return annudf_ivf_flat_search(backend, index, l2, nullptr, &asked, 5, 4, &options,
                                  found.ids.data(), found.distances.data(), nullptr);
  }
  static constexpr int64_t kRows = 64;
  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, kRows, 5, 1),
                           queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 2, 5, 2);
  const annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  OwnedBackend backend;
  OwnedIndex index;
  OwnedArtifact tenant, l2;
};

/// Query 0 sees the even rows, query 1 the odd ones, of which `passes` says more.
template <class Passes>
void checkTenants(const reference::Vectors &base, const reference::Vectors &queries,
                  const Found &found, Passes passes) {
  const TestMetric &test = testMetric("l2");
  for (int64_t q = 0; q < 2; ++q) {
    std::vector<int64_t> passing;
    for (int64_t row = 0; row < base.rows; ++row)
      if (passes(q, row))
        passing.push_back(row);
    EXPECT_EQ("", reference::check(base, passing, queries.row(q), 5, test.order, test.distance,
                                   &found.ids[size_t(q * 5)], &found.distances[size_t(q * 5)]));
  }
}

TEST_F(CApiPredicate, KeepsItsCodeCapturesAndBits) {
  EXPECT_EQ(annudf_artifact_get(tenant)->sees_query, 1);
  EXPECT_EQ(annudf_artifact_get(l2)->sees_query, 0);
  OwnedFilter code, map, some, both, rest;
  {
    OwnedCaptures captures;
    bindTo({0, 1}, &captures);
    ASSERT_EQ(outcome(annudf_ivf_flat_filter(backend, index, tenant, captures, 0, nullptr, &code)),
              "ok");
    std::vector<uint32_t> words = {0xFFFF0000u, 0, 0, 0x0000FFFFu}; // 16 to 31; 32 to 47.
    ASSERT_EQ(outcome(annudf_filter_from_bitmap(words.data(), 2, kRows, &map)), "ok");
    const std::array<uint32_t, 2> few = {0x00FFFFFFu, 0xFFFFFFFFu};
    ASSERT_EQ(outcome(annudf_filter_from_bitset(few.data(), kRows, &some)), "ok");
  }
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_AND, code, some, &both)), "ok");
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_NOT, map, nullptr, &rest)), "ok");
  const auto isOf = [](const annudf_filter *filter, int64_t bits, int64_t queries) {
    const annudf_filter_info *info = annudf_filter_get(filter);
    EXPECT_EQ(info->bits, bits);
    EXPECT_EQ(info->count, -1);
    EXPECT_EQ(info->sees_query, 1);
    EXPECT_EQ(info->queries, queries);
  };
  isOf(code, 0, 2), isOf(map, kRows, 2), isOf(both, kRows, 2), isOf(rest, kRows, 2);
  EXPECT_EQ(annudf_filter_get(some)->sees_query, 0);
  (void)&tenant; // Destroys it: the filters have what they need.
  const auto mine = [](int64_t q, int64_t row) { return row % 2 == q; };
  const auto bit = [](int64_t q, int64_t row) { return row / 16 == q + 1; };
  Found found = foundFor(queries, 5);
  ASSERT_EQ(outcome(search(code, found)), "ok");
  checkTenants(base, queries, found, mine);
  ASSERT_EQ(outcome(search(both, found)), "ok");
  checkTenants(base, queries, found,
               [&](int64_t q, int64_t row) { return mine(q, row) && (row < 24 || row >= 32); });
  ASSERT_EQ(outcome(search(map, found)), "ok");
  checkTenants(base, queries, found, bit);
  ASSERT_EQ(outcome(search(rest, found)), "ok");
  checkTenants(base, queries, found, [&](int64_t q, int64_t row) { return !bit(q, row); });
}

TEST_F(CApiPredicate, RefusesWhatDoesNotFit) {
  OwnedFilter out, code, three;
  const std::vector<uint32_t> words(6, 1);
  EXPECT_EQ(annudf_filter_from_bitmap(words.data(), 0, kRows, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "queries is 0, it must be an integer from 1 to 2147483647");
  EXPECT_EQ(annudf_filter_from_bitmap(words.data(), 1, 0, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "bits is 0, it must be an integer from 1 to 34359738368");
  EXPECT_EQ(annudf_filter_from_bitmap(nullptr, 1, 1, &out), ANNUDF_USAGE);
  EXPECT_EQ(annudf_filter_from_bitmap(words.data(), 1, 1, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_filter_from_code(nullptr, nullptr, &out), ANNUDF_USAGE);
  EXPECT_EQ(annudf_filter_from_code(l2, nullptr, &out), ANNUDF_INPUT);
  EXPECT_EQ((annudf_filter *)out, nullptr);
  ASSERT_EQ(outcome(annudf_filter_from_bitmap(words.data(), 3, kRows, &three)), "ok");
  OwnedCaptures captures;
  bindTo({0, 1}, &captures);
  ASSERT_EQ(outcome(annudf_filter_from_code(tenant, captures, &code)), "ok");
  EXPECT_EQ(annudf_filter_combine(ANNUDF_FILTER_OR, code, three, &out), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(),
               "filters of 2 and 3 queries cannot be joined; make them for the same search");
  Found found = foundFor(queries, 5);
  EXPECT_EQ(search(three, found), ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "the bitmap is for 3 queries, this search has 2; give a row of "
                                    "bits for each query");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.filter = code;
  std::vector<float> distances(size_t(2 * kRows));
  EXPECT_EQ(annudf_ivf_flat_distances(backend, index, l2, nullptr, &asked, &options,
                                      distances.data(), nullptr),
            ANNUDF_USAGE);
  EXPECT_STREQ(annudf_last_error(), "annudf_ivf_flat_distances: options.filter is set; the call "
                                    "computes every distance, so leave it out");
}

// Rows of the call have their numbers as ids, so a longer array is of other rows.
TEST_F(CApiPredicate, CapturesAreOfTheRowsThatComeWithTheCall) {
  OwnedCaptures captures, ofColumn;
  OwnedFilter code, some, joined, column;
  bindTo({0, 1}, &captures);
  bindTo({0, 1}, &ofColumn, true);
  const std::array<uint32_t, 2> all = {~0u, ~0u};
  ASSERT_EQ(outcome(annudf_filter_from_code(tenant, captures, &code)), "ok");
  ASSERT_EQ(outcome(annudf_filter_from_code(tenant, ofColumn, &column)), "ok");
  ASSERT_EQ(outcome(annudf_filter_from_bitset(all.data(), kRows, &some)), "ok");
  ASSERT_EQ(outcome(annudf_filter_combine(ANNUDF_FILTER_AND, some, code, &joined)), "ok");
  const std::vector<int64_t> ids(size_t(2 * 9), 7);
  const annudf_candidates candidates = {sizeof candidates, ids.data(), 2, 9, {}};
  Found found = foundFor(queries, 5);
  const auto outcomes = [&](const annudf_vectors &dataset, const annudf_filter *filter) {
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options, options.filter = filter;
    OwnedRadius within;
    return std::array<std::string, 3>{
        outcome(annudf_brute_force_knn(backend, l2, nullptr, &dataset, &asked, 5, &options,
                                       found.ids.data(), found.distances.data(), nullptr)),
        outcome(annudf_brute_force_radius_search(backend, l2, nullptr, &dataset, &asked, 1, 0,
                                                 &options, &within, nullptr)),
        outcome(annudf_refine(backend, l2, nullptr, &dataset, &asked, &candidates, 5, &options,
                              found.ids.data(), found.distances.data(), nullptr))};
  };
  annudf_vectors fewer = rows;
  fewer.rows = kRows - 1;
  for (const annudf_filter *filter : {(const annudf_filter *)code, (const annudf_filter *)joined}) {
    for (const std::string &each : outcomes(rows, filter))
      EXPECT_EQ(each, "ok");
    for (const std::string &each : outcomes(fewer, filter))
      EXPECT_EQ(each, "usage: capture 'tenant' (row x i32) of filter 'same_tenant' is bound to 64 "
                      "x i32, the data set has 63 rows; bind one entry a row, or search an index "
                      "that was extended with the ids of the rows");
  }
  for (const std::string &each : outcomes(rows, column))
    EXPECT_EQ(each, "usage: capture 'tenant' of filter 'same_tenant' is a column of an index; rows "
                    "that come with the call have none, so bind an array with one entry a row");
}

} // namespace
