//===- GoalTest.cpp - What queries must find, in the C API ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <algorithm>
#include <set>

using namespace annudf;
using namespace annudf::test;

namespace {

class CApiGoal : public WeightedVectors {
protected:
  static constexpr int64_t kLists = 12;

  void SetUp() override {
    WeightedVectors::SetUp();
    options.size = sizeof options, groups.size = sizeof groups;
    for (int64_t id = 0; id < kRows; ++id)
      group.push_back(id % 31 - 4);
    groups.of = group.data(), groups.entries = kRows;
    if (backend) {
      ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, kLists, nullptr, &index, nullptr)),
                "ok");
    }
  }
  std::string search(int64_t k, int64_t probes, Found &found,
                     annudf_ivf_flat_search_stats *stats = nullptr) const {
    return outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &asked, k, probes,
                                          &options, found.ids.data(), found.distances.data(),
                                          stats));
  }
  std::string knn(int64_t k, Found &found) const {
    return outcome(annudf_brute_force_knn(backend, artifact, captures, &rows, &asked, k, &options,
                                          found.ids.data(), found.distances.data(), nullptr));
  }

  OwnedIndex index;
  annudf_ivf_flat_search_options options = {};
  std::vector<int64_t> group;
  annudf_groups groups = {};
};

TEST_F(CApiGoal, QueriesGoOnUntilTheyFoundEnough) {
  std::vector<uint8_t> pass(kRows);
  for (size_t id = 0; id < pass.size(); id += 97)
    pass[id] = 1;
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(pass.data(), kRows, &filter)), "ok");
  options.filter = filter;
  Found all = foundFor(queries, 11), found = all;
  ASSERT_EQ(search(11, kLists, all), "ok");
  options.max_probes = kLists;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(search(11, 1, found, &stats), "ok");
  EXPECT_EQ(found, all) << "11 rows pass";
  EXPECT_EQ(stats.widened, kQueries);
  options.min_rows = 11;
  Found one = foundFor(queries, 1);
  ASSERT_EQ(search(1, 1, one), "ok");
  for (int64_t q = 0; q < kQueries; ++q)
    EXPECT_EQ(one.ids[size_t(q)], all.ids[size_t(q * 11)]);
}

TEST_F(CApiGoal, TheBestRowOfEachGroup) {
  constexpr int64_t k = 9;
  Found all = foundFor(queries, kRows), found = foundFor(queries, k), same = found;
  ASSERT_EQ(search(kRows, kLists, all), "ok");
  options.group_by = &groups;
  ASSERT_EQ(search(k, kLists, found), "ok");
  ASSERT_EQ(knn(k, same), "ok");
  EXPECT_EQ(same, found);
  for (int64_t q = 0; q < kQueries; ++q) {
    std::set<int64_t> seen;
    int64_t place = q * k;
    for (int64_t i = q * kRows; int64_t(seen.size()) < k; ++i)
      if (seen.insert(group[size_t(all.ids[size_t(i)])]).second) {
        ASSERT_EQ(found.ids[size_t(place)], all.ids[size_t(i)]) << q;
        ASSERT_EQ(found.distances[size_t(place++)], all.distances[size_t(i)]) << q;
      }
  }
}

TEST_F(CApiGoal, TellsOfItAndStops) {
  std::vector<double> told;
  options.max_probes = kLists, options.min_rows = kRows;
  options.progress = [](void *user, const char *stage, double done) {
    EXPECT_STREQ(stage, "search");
    static_cast<std::vector<double> *>(user)->push_back(done);
    return 0;
  };
  options.progress_user = &told;
  OwnedArtifact l1;
  load("l1", &l1);
  annudf_ivf_flat_search_stats ofSecond = {};
  ofSecond.size = sizeof ofSecond;
  annudf_second_phase second = {sizeof second, l1, nullptr, 1, &ofSecond};
  for (const annudf_second_phase *refine : {static_cast<const annudf_second_phase *>(nullptr),
                                            static_cast<const annudf_second_phase *>(&second)}) {
    told.clear();
    options.refine = refine;
    Found found = foundFor(queries, 2);
    ASSERT_EQ(search(2, 1, found), "ok");
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1);
  }
  options.progress = [](void *, const char *, double) { return 1; };
  Found found = foundFor(queries, 2);
  EXPECT_EQ(search(2, 1, found), "interrupted: interrupted (search)");
}

TEST_F(CApiGoal, ASecondMetricRanksWhatTheFirstFinds) {
  constexpr int64_t k = 6, count = 21;
  OwnedArtifact l1;
  load("l1", &l1);
  Found first = foundFor(queries, count), found = foundFor(queries, k), same = found;
  ASSERT_EQ(search(count, 3, first), "ok");
  const annudf_candidates given = {sizeof given, first.ids.data(), kQueries, count, {}};
  ASSERT_EQ(outcome(annudf_ivf_flat_refine(backend, index, l1, nullptr, &asked, &given, k, nullptr,
                                           same.ids.data(), same.distances.data(), nullptr)),
            "ok");
  annudf_ivf_flat_search_stats stats = {}, ofSecond = {};
  stats.size = sizeof stats, ofSecond.size = sizeof ofSecond;
  annudf_second_phase second = {sizeof second, l1, nullptr, 3.4, &ofSecond};
  options.refine = &second;
  ASSERT_EQ(search(k, 3, found, &stats), "ok");
  EXPECT_EQ(found, same);
  EXPECT_EQ(ofSecond.scored, kQueries * count);
  EXPECT_GT(stats.scored, ofSecond.scored);
  second.ratio = 0.5;
  EXPECT_EQ(search(k, 3, found), "usage: annudf_ivf_flat_search: options.refine.ratio is 0.500000, "
                                 "it must be from 1 to 1073741824");
  second.ratio = 2, second.artifact = nullptr;
  EXPECT_EQ(search(k, 3, found), "usage: annudf_ivf_flat_search: options.refine.artifact is NULL");
  EXPECT_EQ(knn(k, found), "usage: annudf_brute_force_knn: options.refine is set; refine by "
                           "annudf_refine, or search an index of the rows");
  annudf_ivf_flat_prepared *prepared = nullptr;
  EXPECT_EQ(outcome(annudf_ivf_flat_prepare(backend, index, artifact, captures, &asked, k, 3,
                                            &options, &prepared, nullptr)),
            "usage: annudf_ivf_flat_prepare: options.refine is set; the call has no use for it, "
            "so leave it out");
}

TEST_F(CApiGoal, Refuses) {
  Found found = foundFor(queries, 3);
  options.max_probes = 2;
  EXPECT_EQ(search(3, 3, found), "usage: max_probes is 2, n_probes is 3; give no fewer");
  options.max_probes = -1;
  EXPECT_EQ(search(3, 3, found), "usage: max_probes is -1, n_probes is 3; give no fewer");
  EXPECT_EQ(knn(3, found), "usage: annudf_brute_force_knn: options.max_probes is set; the call has "
                           "no lists to probe, so leave it out");
  options.max_probes = 0, options.min_rows = 5;
  EXPECT_EQ(search(3, 3, found), "usage: min_rows is 5, but there is no max_probes; give it, too");
  options.max_probes = 4, options.min_rows = -5;
  EXPECT_EQ(search(3, 3, found), "usage: min_rows is -5; give 0 or more");
  options.max_probes = options.min_rows = 0, options.group_by = &groups;
  const std::string given = "usage: annudf_ivf_flat_search: options.group_by has ";
  groups.column = "document";
  EXPECT_EQ(search(3, 3, found), given + "both `of` and `column`; give one");
  groups.of = nullptr;
  EXPECT_EQ(search(3, 3, found), "usage: group_by is 'document', which is no column of the index; "
                                 "add it by columns=, or give an array");
  EXPECT_EQ(knn(3, found), "usage: annudf_brute_force_knn: options.group_by.column is 'document'; "
                           "rows that come with the call have no columns, so give `of`");
  groups.column = nullptr;
  EXPECT_EQ(search(3, 3, found), given + "neither `of` nor `column`; give one");
  groups.of = group.data(), groups.size = 8;
  EXPECT_EQ(search(3, 3, found),
            "usage: annudf_groups.size is 8, at least 32 are needed; set it to "
            "sizeof(annudf_groups)");
  groups.size = sizeof groups, groups.entries = kRows - 1;
  EXPECT_EQ(search(3, 3, found), "usage: group_by has 1002 entries, the largest id is 1002; give "
                                 "one entry for every id");
  annudf_radius_result *within = nullptr;
  EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, artifact, captures, &asked, 1, 1,
                                                  9, &options, &within, nullptr)),
            "usage: annudf_ivf_flat_radius_search: options.group_by is set; the call has no use "
            "for it, so leave it out");
  annudf_filter *filter = nullptr;
  EXPECT_EQ(
      outcome(annudf_ivf_flat_filter(backend, index, artifact, captures, kRows, &options, &filter)),
      "usage: annudf_ivf_flat_filter: options.group_by is set; the call has no use for it, "
      "so leave it out");
  groups.entries = kRows;
  Found all = foundFor(queries, kRows + 1);
  EXPECT_EQ(search(kRows + 1, 3, all), "usage: k is 1004, but the index has 1003 rows");
  asked.rows = 0;
  EXPECT_EQ(search(3, 3, found), "input: queries: there are 0 rows; give at least one");
  asked.rows = kQueries;
  OwnedIndex empty;
  annudf_ivf_flat_build_options none = {};
  none.size = sizeof none, none.train_only = 1;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, kLists, &none, &empty, nullptr)), "ok");
  EXPECT_EQ(
      outcome(annudf_ivf_flat_search(backend, empty, artifact, captures, &asked, 3, 3, &options,
                                     found.ids.data(), found.distances.data(), nullptr)),
      "usage: k is 3, but the index has 0 rows; add some first");
  options.group_by = nullptr, options.max_probes = 9;
  EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, artifact, captures, &asked, 1, 1,
                                                  9, &options, &within, nullptr)),
            "usage: annudf_ivf_flat_radius_search: options.max_probes is set; the call has no use "
            "for it, so leave it out");
}

} // namespace
