//===- RefineTest.cpp - Candidates ranked again ---------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

class CApiRefine : public WeightedVectors {
protected:
  annudf_candidates candidatesOf(const std::vector<int64_t> &ids) const {
    return {sizeof(annudf_candidates),
            ids.data(),
            queries.rows,
            int64_t(ids.size()) / queries.rows,
            {}};
  }
  std::string refine(const annudf_candidates *given, int64_t k, Found &found,
                     const annudf_ivf_flat_search_options *options = nullptr,
                     annudf_ivf_flat_search_stats *stats = nullptr) const {
    return outcome(annudf_refine(backend, artifact, captures, &rows, &asked, given, k, options,
                                 found.ids.data(), found.distances.data(), stats));
  }
};

/// With all rows as candidates it is an exact search.
TEST_F(CApiRefine, AllRowsAreAnExactSearch) {
  std::vector<int64_t> all(45 * 1003);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int64_t(i * 7 % 1003);
  const annudf_candidates given = candidatesOf(all);
  for (const int64_t k : {1, 10, 1003}) {
    Found found = foundFor(queries, k), same = found;
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(refine(&given, k, found, nullptr, &stats), "ok");
    EXPECT_EQ(stats.scored, 45 * 1003);
    ASSERT_EQ(outcome(annudf_brute_force_knn(backend, artifact, captures, &rows, &asked, k, nullptr,
                                             same.ids.data(), same.distances.data(), nullptr)),
              "ok");
    EXPECT_EQ(found, same) << k;
  }
}

TEST_F(CApiRefine, CandidatesOfAnIndexAndAFilter) {
  constexpr int64_t k = 5, columns = 30;
  OwnedArtifact l2;
  load("l2", &l2);
  OwnedIndex index;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 9, nullptr, &index, nullptr)), "ok");
  Found first = foundFor(queries, columns), found = foundFor(queries, k);
  ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, index, l2, nullptr, &asked, columns, 3, nullptr,
                                           first.ids.data(), first.distances.data(), nullptr)),
            "ok");
  std::vector<uint8_t> pass(1003);
  for (size_t i = 0; i < pass.size(); ++i)
    pass[i] = i % 3 != 0;
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(pass.data(), int64_t(pass.size()), &filter)), "ok");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.filter = filter;
  const annudf_candidates given = candidatesOf(first.ids);
  ASSERT_EQ(refine(&given, k, found, &options), "ok");
  for (int64_t q = 0; q < queries.rows; ++q) {
    std::vector<int64_t> own;
    for (int64_t i = 0; i < columns; ++i)
      if (const int64_t id = first.ids[size_t(q * columns + i)]; id >= 0 && pass[size_t(id)])
        own.push_back(id);
    const auto weighted = [&](const double *x, const double *y, int32_t dims) {
      double total = 0;
      for (int32_t d = 0; d < dims; ++d)
        total += weights[size_t(d)] * (x[d] - y[d]) * (x[d] - y[d]);
      return total;
    };
    ASSERT_EQ(reference::check(base, own, queries.row(q), k, ANNUDF_ORDER_MIN, weighted,
                               &found.ids[size_t(q * k)], &found.distances[size_t(q * k)]),
              "")
        << q;
  }
}

/// Candidates are ids of an index.
TEST_F(CApiRefine, RowsOfAnIndex) {
  constexpr int64_t k = 5, columns = 30;
  std::vector<int64_t> ids(1003);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = int64_t(i) * 9 % 1003 + (int64_t(1) << 40);
  OwnedIndex exact, lists;
  ASSERT_EQ(outcome(annudf_brute_force_build(nullptr, &rows, IdsOf(ids), nullptr, &exact, nullptr)),
            "ok");
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options, options.train_only = 1;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 9, &options, &lists, nullptr)), "ok");
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, lists, &rows, IdsOf(ids), nullptr)), "ok");
  Found first = foundFor(queries, columns), found = foundFor(queries, k), same = found;
  ASSERT_EQ(
      outcome(annudf_ivf_flat_search(backend, exact, artifact, captures, &asked, columns, 1,
                                     nullptr, first.ids.data(), first.distances.data(), nullptr)),
      "ok");
  const annudf_candidates given = candidatesOf(first.ids);
  const auto refine = [&](const annudf_ivf_flat_index *of, Found &to,
                          annudf_ivf_flat_search_stats *stats = nullptr) {
    return outcome(annudf_ivf_flat_refine(backend, of, artifact, captures, &asked, &given, k,
                                          nullptr, to.ids.data(), to.distances.data(), stats));
  };
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(refine(exact, found), "ok");
  ASSERT_EQ(refine(lists, same, &stats), "ok");
  EXPECT_EQ(found, same);
  EXPECT_EQ(stats.scored, 45 * columns);
  for (int64_t q = 0; q < queries.rows; ++q)
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(found.ids[size_t(q * k + i)], first.ids[size_t(q * columns + i)]);
      ASSERT_EQ(found.distances[size_t(q * k + i)], first.distances[size_t(q * columns + i)]);
    }
  EXPECT_EQ(refine(nullptr, found), "usage: annudf_ivf_flat_refine: index is NULL");
  first.ids[31] = 7;
  EXPECT_EQ(refine(lists, found), "input: candidates[1, 1] is 7, which is no id of the index; give "
                                  "ids of its rows, or -1 for none");
  annudf_ivf_flat_extend_options again = {};
  again.size = sizeof again, again.allow_repeated_ids = 1;
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, lists, &rows, IdsOf(ids), &again)), "ok");
  EXPECT_EQ(refine(lists, found),
            "input: index: several rows have id 1099511627776, so a candidate "
            "does not name one; give each row its own id");
  ASSERT_EQ(outcome(annudf_ivf_flat_remove(nullptr, lists, IdsOf(ids), nullptr, nullptr, nullptr)),
            "ok");
  EXPECT_EQ(refine(lists, found), "input: index: there are 0 rows; add some first");
}

TEST_F(CApiRefine, Refuses) {
  Found found = foundFor(queries, 3);
  std::vector<int64_t> ids(45 * 3, 1);
  annudf_candidates given = candidatesOf(ids);
  EXPECT_EQ(refine(nullptr, 3, found), "usage: annudf_refine: candidates is NULL");
  EXPECT_EQ(refine(&given, 4, found),
            "usage: k is 4, but a query has 3 candidates; ask for fewer, or give more");
  EXPECT_EQ(outcome(annudf_refine(backend, artifact, captures, &rows, &asked, &given, 3, nullptr,
                                  nullptr, found.distances.data(), nullptr)),
            "usage: annudf_refine: ids is NULL");
  ids[40 * 3 + 2] = 1003;
  EXPECT_EQ(refine(&given, 3, found), "input: candidates[40, 2] is 1003, the dataset has 1003 "
                                      "rows; give -1 to 1002, where -1 is none");
  given.rows = 44;
  EXPECT_EQ(refine(&given, 3, found),
            "input: candidates have 44 rows, there are 45 queries; give one row a query");
  given.rows = 45, given.columns = 0;
  EXPECT_EQ(refine(&given, 1, found),
            "input: candidates have no columns; give each query at least one, or -1");
  given.columns = 3, given.ids = nullptr;
  EXPECT_EQ(refine(&given, 3, found), "usage: annudf_refine: candidates.ids is NULL");
  given.ids = ids.data(), given.size = 8;
  EXPECT_EQ(refine(&given, 3, found),
            "usage: annudf_candidates.size is 8, at least 32 are needed; set it to "
            "sizeof(annudf_candidates)");
  given.size = sizeof given;
  rows.rows = 0;
  EXPECT_EQ(refine(&given, 3, found), "input: dataset: there are 0 rows; give at least one");
  rows.rows = 1003, asked.dims = 6;
  EXPECT_EQ(refine(&given, 3, found), "input: queries have 6 dims, the dataset has 12");
  asked.dims = kDims;
  const std::string elsewhere = " is in memory of CUDA device 0, the backend is " +
                                std::string(annudf_backend_get(backend)->description) +
                                "; give the backend of that device";
  given.place = {ANNUDF_MEMORY_CUDA, 0, 0};
  EXPECT_EQ(refine(&given, 3, found), "usage: annudf_refine: candidates" + elsewhere);
  rows = onDevice(rows);
  EXPECT_EQ(refine(&given, 3, found), "usage: annudf_refine: dataset" + elsewhere);
}

} // namespace
