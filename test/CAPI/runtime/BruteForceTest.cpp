//===- BruteForceTest.cpp - Exact search and distances of all pairs -------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <cmath>
#include <limits>

using namespace annudf;
using namespace annudf::test;

namespace {

class CApiBruteForce : public WeightedVectors {
protected:
  double expected(int64_t q, int64_t row) const {
    double total = 0;
    for (int64_t d = 0; d < kDims; ++d)
      total += weights[size_t(d)] * std::pow(queries.row(q)[d] - base.row(row)[d], 2);
    return total;
  }
};

TEST_F(CApiBruteForce, KnnEqualsASearchOfAllLists) {
  OwnedIndex index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 9, nullptr, &index, nullptr)), "ok");
  for (int64_t k : {1, 10, 1003}) {
    Found found = foundFor(queries, k), same = found;
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(outcome(annudf_brute_force_knn(backend, artifact, captures, &rows, &asked, k, nullptr,
                                             found.ids.data(), found.distances.data(), &stats)),
              "ok");
    EXPECT_STREQ(stats.family, "groups");
    ASSERT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &asked, k, 9, nullptr,
                                       same.ids.data(), same.distances.data(), nullptr)),
        "ok");
    EXPECT_EQ(found, same) << k;
  }
}

TEST_F(CApiBruteForce, AStoreOfRowsIsSearchedAsKnnSearches) {
  constexpr int64_t k = 9;
  Found found = foundFor(queries, k), same = found;
  ASSERT_EQ(outcome(annudf_brute_force_knn(backend, artifact, captures, &rows, &asked, k, nullptr,
                                           same.ids.data(), same.distances.data(), nullptr)),
            "ok");
  std::vector<int64_t> ids(1003);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = int64_t(5000 - i);
  const IdsOf numbers(ids);
  annudf_brute_force_build_options options = {};
  options.size = sizeof options, options.threads = 2;
  annudf_ivf_flat_build_stats cost = {};
  cost.size = sizeof cost;
  for (annudf_backend *const on :
       {static_cast<annudf_backend *>(nullptr), static_cast<annudf_backend *>(backend)})
    for (const annudf_ids *given :
         {static_cast<const annudf_ids *>(nullptr), static_cast<const annudf_ids *>(numbers)}) {
      OwnedIndex store;
      ASSERT_EQ(outcome(annudf_brute_force_build(on, &rows, given, &options, &store, &cost)), "ok");
      EXPECT_EQ(infoOf(store).n_lists, 1);
      EXPECT_EQ(infoOf(store).rows, 1003);
      EXPECT_EQ(cost.lists_on_device, 0);
      ASSERT_EQ(
          outcome(annudf_ivf_flat_search(backend, store, artifact, captures, &asked, k, 1, nullptr,
                                         found.ids.data(), found.distances.data(), nullptr)),
          "ok");
      if (given)
        for (int64_t &id : found.ids)
          id = 5000 - id;
      EXPECT_EQ(found, same);
    }
}

/// Rows that stay where they are, which take more than one piece, are found as those of a store.
TEST_F(CApiBruteForce, RowsInPlaceAreSearchedAsAStore) {
  constexpr int64_t k = 9, kMany = 150'000, kWide = 128; // 73 MiB.
  const auto many = reference::randomVectors(ANNUDF_ELEMENT_F32, kMany, kWide, 5);
  const auto some = reference::randomVectors(ANNUDF_ELEMENT_F32, 20, kWide, 6);
  const annudf_vectors base = vectorsOf(many), few = vectorsOf(some);
  OwnedArtifact l2;
  load("l2", &l2);
  std::vector<int64_t> ids(kMany);
  std::vector<uint8_t> pass(2 * kMany);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = int64_t(2 * (ids.size() - 1 - i)), pass[2 * i] = i % 3 != 0;
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(pass.data(), int64_t(pass.size()), &filter)), "ok");
  annudf_ivf_flat_search_options search = {};
  search.size = sizeof search, search.filter = filter;
  annudf_brute_force_build_options options = {};
  options.size = sizeof options, options.threads = 2;
  Found found[2] = {foundFor(some, k), foundFor(some, k)};
  OwnedIndex stores[2];
  for (const int inPlace : {0, 1}) {
    options.in_place = inPlace;
    ASSERT_EQ(outcome(annudf_brute_force_build(nullptr, &base, IdsOf(ids), &options,
                                               &stores[inPlace], nullptr)),
              "ok");
    ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, stores[inPlace], l2, nullptr, &few, k, 1,
                                             &search, found[inPlace].ids.data(),
                                             found[inPlace].distances.data(), nullptr)),
              "ok");
  }
  EXPECT_EQ(found[0], found[1]);
  for (const int64_t id : found[1].ids)
    EXPECT_TRUE(id >= 0 && pass[size_t(id)]) << id;
  // What changes it makes a copy, which the search then reads.
  annudf_vectors more = few;
  more.rows = 3;
  for (const int inPlace : {0, 1}) {
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, stores[inPlace], &more, nullptr, nullptr)),
              "ok");
    ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, stores[inPlace], l2, nullptr, &few, k, 1,
                                             nullptr, found[inPlace].ids.data(),
                                             found[inPlace].distances.data(), nullptr)),
              "ok");
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[1].ids[0], 2 * kMany - 1) << "the row that is the query";
}

TEST_F(CApiBruteForce, AStoreRefuses) {
  OwnedIndex store;
  annudf_brute_force_build_options options = {};
  options.size = sizeof options;
  annudf_vectors few = asked;
  few.rows = 3;
  const auto built = [&](const annudf_vectors *from, const annudf_ids *ids) {
    return outcome(annudf_brute_force_build(backend, from, ids, &options, &store, nullptr));
  };
  const int64_t twice[] = {4, 0, 4}, below[] = {0, -1, 2};
  EXPECT_EQ(built(&few, IdsOf(twice)),
            "input: ids[2] is 4, the id of row 0 too; give each row an id of its own");
  EXPECT_EQ(built(&few, IdsOf(below)), "input: ids[1] is -1; ids are 0 or above");
  EXPECT_EQ(
      built(&few, IdsOf({below, 2})),
      "usage: annudf_brute_force_build: ids: count is 2, there are 3 rows; give one id a row");
  EXPECT_EQ(built(nullptr, nullptr), "usage: annudf_brute_force_build: dataset is NULL");
  few.rows = 0;
  EXPECT_EQ(built(&few, nullptr), "input: base: it has no rows");
  few = onDevice(rows);
  const std::string itIs = "dataset is in memory of CUDA device 0";
  EXPECT_EQ(built(&few, nullptr), "usage: annudf_brute_force_build: " + itIs + ", the backend is " +
                                      annudf_backend_get(backend)->description +
                                      "; give the backend of that device");
  EXPECT_EQ(outcome(annudf_brute_force_build(nullptr, &few, nullptr, &options, &store, nullptr)),
            "usage: annudf_brute_force_build: backend is NULL, " + itIs +
                "; give the backend of that device");
  few.place.memory = 5;
  EXPECT_EQ(built(&few, nullptr), "usage: annudf_brute_force_build: dataset.place.memory is 5; use "
                                  "a value of enum annudf_memory");
}

TEST_F(CApiBruteForce, PairwiseDistances) {
  std::vector<float> all(45 * 1003, -777.0f), ofIndex = all;
  ASSERT_EQ(outcome(annudf_pairwise_distance(backend, artifact, captures, &asked, &rows, nullptr,
                                             all.data(), nullptr)),
            "ok");
  for (int64_t q = 0; q < 45; ++q)
    for (int64_t row = 0; row < 1003; ++row)
      ASSERT_NEAR(all[size_t(q * 1003 + row)], expected(q, row), 1e-5 * (1 + expected(q, row)))
          << q << ", " << row;
  // Rows of an index come by their ids, whatever list they are in.
  OwnedIndex index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 9, nullptr, &index, nullptr)), "ok");
  ASSERT_EQ(outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &asked, nullptr,
                                              ofIndex.data(), nullptr)),
            "ok");
  EXPECT_EQ(ofIndex, all);
  // Order max: nothing is left out for being bad.
  OwnedArtifact product;
  load("inner_product", &product);
  ASSERT_EQ(outcome(annudf_pairwise_distance(backend, product, nullptr, &asked, &rows, nullptr,
                                             all.data(), nullptr)),
            "ok");
  for (int64_t q = 0; q < 45; ++q)
    for (int64_t row = 0; row < 1003; ++row) {
      double total = 0;
      for (int64_t d = 0; d < kDims; ++d)
        total += queries.row(q)[d] * base.row(row)[d];
      ASSERT_NEAR(all[size_t(q * 1003 + row)], total, 1e-4);
    }
}

/// Each of two types has its own place; every coordinate is exact in the compute type.
TEST_F(CApiBruteForce, QueriesOfAnotherType) {
  constexpr annudf_element kTypes[] = {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_BF16,
                                       ANNUDF_ELEMENT_I8,  ANNUDF_ELEMENT_U8,  ANNUDF_ELEMENT_BITS};
  constexpr int64_t kWide = 24;
  OwnedArtifact l2;
  load("l2", &l2);
  for (annudf_element left : kTypes)
    for (annudf_element right : kTypes) {
      const auto x = reference::randomVectors(left, 5, kWide, 3);
      const auto y = reference::randomVectors(right, 70, kWide, 4);
      const annudf_vectors first = vectorsOf(x), second = vectorsOf(y);
      std::vector<float> all(5 * 70);
      ASSERT_EQ(outcome(annudf_pairwise_distance(backend, l2, nullptr, &first, &second, nullptr,
                                                 all.data(), nullptr)),
                "ok");
      for (int64_t q = 0; q < 5; ++q)
        for (int64_t row = 0; row < 70; ++row) {
          double total = 0;
          for (int64_t d = 0; d < kWide; ++d)
            total += std::pow(x.row(q)[d] - y.row(row)[d], 2);
          ASSERT_NEAR(all[size_t(q * 70 + row)], total, 1e-5 * (1 + total))
              << int(left) << ", " << int(right);
        }
    }
}

/// Infinities are distances as others are, and NaN says that there is none.
TEST_F(CApiBruteForce, DistancesThatAreNotFinite) {
  const auto x = reference::encode(ANNUDF_ELEMENT_F32, 1, {2e38, 0});
  const auto y = reference::encode(ANNUDF_ELEMENT_F32, 1, {-2e38, 0, 1});
  const annudf_vectors first = vectorsOf(x), second = vectorsOf(y);
  OwnedCaptures huge;
  bindWeights(artifact, {0.0f}, &huge);
  std::vector<float> all(6);
  ASSERT_EQ(outcome(annudf_pairwise_distance(backend, artifact, huge, &first, &second, nullptr,
                                             all.data(), nullptr)),
            "ok");
  EXPECT_TRUE(std::isnan(all[0])) << "0 times infinity";
  EXPECT_EQ(all[4], 0);
  OwnedArtifact l2;
  load("l2", &l2);
  ASSERT_EQ(outcome(annudf_pairwise_distance(backend, l2, nullptr, &first, &second, nullptr,
                                             all.data(), nullptr)),
            "ok");
  EXPECT_EQ(all[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(std::vector<float>(all.begin() + 3, all.end()),
            (std::vector<float>{std::numeric_limits<float>::infinity(), 0, 1}));
}

TEST_F(CApiBruteForce, Refuses) {
  std::vector<float> all(45 * 1003);
  std::vector<int64_t> ids(45 * 1003);
  const auto pairwise = [&](const annudf_vectors *x, const annudf_vectors *y, float *to) {
    return outcome(
        annudf_pairwise_distance(backend, artifact, captures, x, y, nullptr, to, nullptr));
  };
  EXPECT_EQ(pairwise(nullptr, &rows, all.data()), "usage: annudf_pairwise_distance: x is NULL");
  EXPECT_EQ(pairwise(&asked, nullptr, all.data()), "usage: annudf_pairwise_distance: y is NULL");
  EXPECT_EQ(pairwise(&asked, &rows, nullptr), "usage: annudf_pairwise_distance: distances is NULL");
  EXPECT_EQ(outcome(annudf_brute_force_knn(backend, artifact, captures, &rows, &asked, 1004,
                                           nullptr, ids.data(), all.data(), nullptr)),
            "usage: k is 1004, but the index has 1003 rows");
  OwnedIndex index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &asked, 3, nullptr, &index, nullptr)), "ok");
  const int64_t far[3] = {100, 200, 300};
  const annudf_vectors few = {sizeof few, asked.data, 3, kDims, ANNUDF_ELEMENT_F32, {}};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &few, IdsOf(far), nullptr)), "ok");
  EXPECT_EQ(
      outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &asked, nullptr,
                                        all.data(), nullptr)),
      "usage: distances by id: the index has 48 rows and a row with id 300; each id from 0 to 47 "
      "must occur once");
  const annudf_vectors there = onDevice(asked);
  const std::string noMemory = " is in memory of CUDA device 0, the backend is " +
                               std::string(annudf_backend_get(backend)->description) +
                               "; give the backend of that device";
  EXPECT_EQ(outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &there, nullptr,
                                              all.data(), nullptr)),
            "usage: annudf_ivf_flat_distances: queries" + noMemory);
  EXPECT_EQ(pairwise(&there, &rows, all.data()), "usage: annudf_pairwise_distance: x" + noMemory);
  EXPECT_EQ(pairwise(&asked, &there, all.data()), "usage: annudf_pairwise_distance: y" + noMemory);
  const auto knn = [&](const annudf_vectors *from, const annudf_vectors *of) {
    return outcome(annudf_brute_force_knn(backend, artifact, captures, from, of, 3, nullptr,
                                          ids.data(), all.data(), nullptr));
  };
  EXPECT_EQ(knn(&there, &asked), "usage: annudf_brute_force_knn: dataset" + noMemory);
  EXPECT_EQ(knn(&rows, &there), "usage: annudf_brute_force_knn: queries" + noMemory);
}

/// As many ids as rows, none too large, and yet no column is that of one row.
TEST_F(CApiBruteForce, RefusesRepeatedIds) {
  OwnedIndex index;
  const annudf_vectors few = {sizeof few, asked.data, 3, kDims, ANNUDF_ELEMENT_F32, {}};
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &few, 2, nullptr, &index, nullptr)), "ok");
  annudf_ivf_flat_extend_options options = {};
  options.size = sizeof options, options.allow_repeated_ids = 1;
  const auto distances = [&] {
    std::vector<float> all(45 * 6);
    return outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &asked, nullptr,
                                             all.data(), nullptr));
  };
  EXPECT_EQ(distances(), "ok");
  const int64_t again[3] = {4, 0, 5};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &few, IdsOf(again), &options)), "ok");
  EXPECT_EQ(distances(), "usage: distances by id: the index has 6 rows and some of its ids are "
                         "repeated; each id from 0 to 5 must occur once");
}

/// Ids in any order are those that build gives.
TEST_F(CApiBruteForce, IdsInAnyOrder) {
  OwnedIndex index;
  const annudf_vectors few = {sizeof few, asked.data, 3, kDims, ANNUDF_ELEMENT_F32, {}};
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &few, 2, nullptr, &index, nullptr)), "ok");
  const int64_t ids[3] = {5, 3, 4};
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &few, IdsOf(ids), nullptr)), "ok");
  std::vector<float> all(45 * 6);
  ASSERT_EQ(outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &asked, nullptr,
                                              all.data(), nullptr)),
            "ok");
  for (int64_t q = 0; q < 45; ++q) {
    EXPECT_EQ(all[size_t(q * 6 + 5)], all[size_t(q * 6 + 0)]);
    EXPECT_EQ(all[size_t(q * 6 + 3)], all[size_t(q * 6 + 1)]);
    EXPECT_EQ(all[size_t(q * 6 + 4)], all[size_t(q * 6 + 2)]);
  }
}

} // namespace
