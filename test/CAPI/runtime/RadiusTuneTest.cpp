//===- RadiusTuneTest.cpp - Radius search and probes for a recall ---------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <cmath>
#include <limits>
#include <set>

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int64_t kLists = 20;

class CApiRadiusTune : public WeightedVectors {
protected:
  void SetUp() override {
    WeightedVectors::SetUp();
    if (!backend)
      return;
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, kLists, nullptr, &index, nullptr)),
              "ok");
  }
  std::string within(float radius, annudf_radius_result **result,
                     const annudf_ivf_flat_search_options *options = nullptr,
                     annudf_ivf_flat_search_stats *stats = nullptr, int64_t most = 0) {
    return outcome(annudf_ivf_flat_radius_search(backend, index, artifact, captures, &asked, radius,
                                                 kLists, most, options, result, stats));
  }
  /// Every neighbour, the best first, of which a radius takes those at the front.
  Found all() {
    Found found = foundFor(queries, kRows);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &asked, kRows, kLists,
                                       nullptr, found.ids.data(), found.distances.data(), nullptr)),
        "ok");
    return found;
  }
  double recall(int64_t k, int64_t probes) {
    const Found truth = all();
    Found found = foundFor(queries, k);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &asked, k, probes,
                                       nullptr, found.ids.data(), found.distances.data(), nullptr)),
        "ok");
    int64_t hits = 0;
    for (int64_t q = 0; q < kQueries; ++q) {
      const auto first = truth.ids.begin() + q * kRows;
      const std::set<int64_t> wanted(first, first + k);
      for (int64_t i = 0; i < k; ++i)
        hits += int64_t(wanted.count(found.ids[size_t(q * k + i)]));
    }
    return double(hits) / double(kQueries * k);
  }

  OwnedIndex index;
};

/// From nobody within it to all.
TEST_F(CApiRadiusTune, AllWithinARadius) {
  const Found every = all();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float radius : {-kInfinity, -1.0f, every.distances[0], every.distances[100],
                       every.distances[kRows / 2], kInfinity}) {
    OwnedRadius result;
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(within(radius, &result, nullptr, &stats), "ok");
    EXPECT_STREQ(stats.family, "groups");
    ASSERT_EQ(annudf_radius_result_get(result)->queries, kQueries);
    const int64_t *offsets = annudf_radius_result_get(result)->offsets;
    ASSERT_EQ(offsets[0], 0);
    for (int64_t q = 0; q < kQueries; ++q) {
      const int64_t count = offsets[q + 1] - offsets[q];
      const float *expected = every.distances.data() + q * kRows;
      ASSERT_EQ(count, std::upper_bound(expected, expected + kRows, radius) - expected)
          << radius << ", " << q;
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(annudf_radius_result_get(result)->distances[offsets[q] + i], expected[i]);
        ASSERT_EQ(annudf_radius_result_get(result)->ids[offsets[q] + i],
                  every.ids[size_t(q * kRows + i)]);
      }
    }
  }
}

/// As many as are within are found, and one fewer is an error that names both numbers.
TEST_F(CApiRadiusTune, NoMoreResultsThanAreAllowed) {
  const float radius = all().distances[200];
  OwnedRadius result;
  ASSERT_EQ(within(radius, &result), "ok");
  const int64_t results = annudf_radius_result_get(result)->offsets[kQueries];
  OwnedRadius again;
  ASSERT_EQ(within(radius, &again, nullptr, nullptr, results), "ok");
  EXPECT_EQ(annudf_radius_result_get(again)->offsets[kQueries], results);
  OwnedRadius none;
  const std::string said = within(radius, &none, nullptr, nullptr, results - 1);
  EXPECT_TRUE(said.starts_with("usage: max_results is " + std::to_string(results - 1) +
                               ", and the search stopped with "))
      << said;
  EXPECT_TRUE(said.ends_with(" rows within the radius; give a smaller radius or a larger "
                             "max_results"))
      << said;
}

/// Rows that come with the call, and rows that stay where they are, give what an index gives.
TEST_F(CApiRadiusTune, RowsOfTheCaller) {
  const float radius = all().distances[50];
  annudf_brute_force_build_options options = {};
  options.size = sizeof options, options.in_place = 1;
  OwnedIndex inPlace;
  ASSERT_EQ(outcome(annudf_brute_force_build(nullptr, &rows, nullptr, &options, &inPlace, nullptr)),
            "ok");
  OwnedRadius expected, ofRows, ofStore;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(within(radius, &expected), "ok");
  ASSERT_EQ(outcome(annudf_brute_force_radius_search(backend, artifact, captures, &rows, &asked,
                                                     radius, 0, nullptr, &ofRows, &stats)),
            "ok");
  EXPECT_EQ(stats.scored, kQueries * kRows);
  ASSERT_EQ(outcome(annudf_ivf_flat_radius_search(backend, inPlace, artifact, captures, &asked,
                                                  radius, 1, 0, nullptr, &ofStore, nullptr)),
            "ok");
  const annudf_radius_result_info *const all = annudf_radius_result_get(expected);
  const int64_t results = all->offsets[kQueries];
  EXPECT_GT(results, kQueries);
  for (const annudf_radius_result *one :
       std::initializer_list<const annudf_radius_result *>{ofRows, ofStore}) {
    const annudf_radius_result_info *const found = annudf_radius_result_get(one);
    ASSERT_TRUE(std::equal(all->offsets, all->offsets + kQueries + 1, found->offsets));
    EXPECT_TRUE(std::equal(all->ids, all->ids + results, found->ids));
    EXPECT_TRUE(std::equal(all->distances, all->distances + results, found->distances));
  }
  EXPECT_EQ(outcome(annudf_brute_force_radius_search(backend, artifact, captures, &rows, &asked,
                                                     radius, 0, nullptr, nullptr, nullptr)),
            "usage: annudf_brute_force_radius_search: result is NULL");
}

/// With order max the larger is the better; a filter leaves rows out, and so does a list not
/// probed.
TEST_F(CApiRadiusTune, OrderMaxAndFilters) {
  OwnedArtifact product;
  load("inner_product", &product);
  std::vector<float> values(size_t(kQueries * kRows));
  ASSERT_EQ(outcome(annudf_ivf_flat_distances(backend, index, product, nullptr, &asked, nullptr,
                                              values.data(), nullptr)),
            "ok");
  std::vector<uint8_t> odd(kRows);
  for (size_t i = 1; i < odd.size(); i += 2)
    odd[i] = 1;
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(odd.data(), kRows, &filter)), "ok");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.filter = filter;
  OwnedRadius result;
  ASSERT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, product, nullptr, &asked, 0.5f,
                                                  kLists, 0, &options, &result, nullptr)),
            "ok");
  const int64_t *offsets = annudf_radius_result_get(result)->offsets;
  int64_t total = 0;
  for (int64_t q = 0; q < kQueries; ++q) {
    std::set<int64_t> expected;
    for (int64_t row = 1; row < kRows; row += 2)
      if (values[size_t(q * kRows + row)] >= 0.5f)
        expected.insert(row);
    const int64_t *ids = annudf_radius_result_get(result)->ids;
    EXPECT_EQ(std::set<int64_t>(ids + offsets[q], ids + offsets[q + 1]), expected) << q;
    total += int64_t(expected.size());
  }
  EXPECT_GT(total, kQueries);
  OwnedRadius more; // Probes than there are lists: all of them.
  ASSERT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, product, nullptr, &asked, 0.5f,
                                                  kLists + 1, 0, &options, &more, nullptr)),
            "ok");
  EXPECT_EQ(annudf_radius_result_get(more)->offsets[kQueries], total);
  OwnedRadius fewer;
  ASSERT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, product, nullptr, &asked, 0.5f, 1,
                                                  0, &options, &fewer, nullptr)),
            "ok");
  EXPECT_LT(annudf_radius_result_get(fewer)->offsets[kQueries], total);
}

TEST_F(CApiRadiusTune, ProbesForARecall) {
  int64_t last = 0;
  for (double wanted : {0.05, 0.5, 0.9, 1.0}) {
    int64_t probes = -1;
    ASSERT_EQ(outcome(annudf_ivf_flat_tune_n_probes(backend, index, artifact, captures, &asked, 10,
                                                    wanted, nullptr, &probes, nullptr)),
              "ok");
    EXPECT_GE(recall(10, probes), wanted);
    if (probes > 1) {
      EXPECT_LT(recall(10, probes - 1), wanted) << probes;
    }
    EXPECT_GE(probes, last);
    last = probes;
  }
  EXPECT_GT(last, 1);
}

/// All rows are as near: a search of one list finds some of them, one of both lists the lowest ids.
TEST_F(CApiRadiusTune, RowsAsNearAsTheLastCount) {
  OwnedArtifact l1;
  load("l1", &l1);
  std::vector<float> values(40 * 2);
  for (size_t row = 0; row < 40; ++row)
    values[2 * row] = row % 2 ? 4 : 1, values[2 * row + 1] = row % 2 ? 1 : 4;
  const float query[] = {1, 1};
  const annudf_vectors two = {sizeof(annudf_vectors), values.data(), 40, 2, ANNUDF_ELEMENT_F32, {}},
                       one = {sizeof(annudf_vectors), query, 1, 2, ANNUDF_ELEMENT_F32, {}};
  OwnedIndex halves;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &two, 2, nullptr, &halves, nullptr)), "ok");
  int64_t probes = -1;
  ASSERT_EQ(outcome(annudf_ivf_flat_tune_n_probes(backend, halves, l1, nullptr, &one, 10, 1,
                                                  nullptr, &probes, nullptr)),
            "ok");
  EXPECT_EQ(probes, 1);
}

TEST_F(CApiRadiusTune, Refuses) {
  OwnedRadius result;
  EXPECT_EQ(within(std::nanf(""), &result),
            "usage: radius is nan, it must be a number that distances can be compared with");
  EXPECT_EQ(within(1, nullptr), "usage: annudf_ivf_flat_radius_search: result is NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, artifact, captures, &asked, 1, 0,
                                                  0, nullptr, &result, nullptr)),
            "usage: n_probes is 0, it must be an integer from 1 to 16777216");
  EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, nullptr, artifact, captures, &asked, 1,
                                                  1, 0, nullptr, &result, nullptr)),
            "usage: annudf_ivf_flat_radius_search: index is NULL");
  EXPECT_EQ(annudf_radius_result_get(nullptr), nullptr);
  const annudf_vectors there = onDevice(asked);
  EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, artifact, captures, &there, 1, 1,
                                                  0, nullptr, &result, nullptr)),
            "usage: annudf_ivf_flat_radius_search: queries is in memory of CUDA device 0, the "
            "backend is " +
                std::string(annudf_backend_get(backend)->description) +
                "; give the backend of that device");
  EXPECT_EQ(within(1, &result, nullptr, nullptr, -1),
            "usage: max_results is -1, it must be an integer from 0 to 1099511627776, 0 for the "
            "default");
  int64_t probes = 0;
  const auto tune = [&](int64_t k, double wanted, int64_t *to) {
    return outcome(annudf_ivf_flat_tune_n_probes(backend, index, artifact, captures, &asked, k,
                                                 wanted, nullptr, to, nullptr));
  };
  for (double wanted : {0.0, 1.5, -1.0, std::nan("")})
    EXPECT_EQ(tune(10, wanted, &probes),
              "usage: recall = " + std::to_string(wanted) + ": must be above 0 and at most 1");
  EXPECT_EQ(tune(1004, 0.9, &probes), "usage: k is 1004, but the index has 1003 rows");
  EXPECT_EQ(tune(0, 0.9, &probes), "usage: k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(tune(10, 0.9, nullptr), "usage: annudf_ivf_flat_tune_n_probes: n_probes is NULL");
}

// For who makes room for results before a search.
TEST(CApiCheckK, SaysWhatASearchSays) {
  EXPECT_EQ(outcome(annudf_check_k(10, 10)), "ok");
  EXPECT_EQ(outcome(annudf_check_k(ANNUDF_MAX_K, INT64_MAX)), "ok");
  for (const int64_t k : {int64_t(0), int64_t(-1), int64_t(ANNUDF_MAX_K) + 1, INT64_MIN})
    EXPECT_EQ(outcome(annudf_check_k(k, INT64_MAX)),
              "usage: k is " + std::to_string(k) + ", it must be an integer from 1 to 1073741824");
  EXPECT_EQ(outcome(annudf_check_k(11, 10)), "usage: k is 11, but the index has 10 rows");
  EXPECT_EQ(outcome(annudf_check_k(1, 0)),
            "usage: k is 1, but the index has 0 rows; add some first");
}

} // namespace
