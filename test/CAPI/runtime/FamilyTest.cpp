//===- FamilyTest.cpp - Searches that ask for their kernels ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include "annudf-c/BruteForce.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int64_t kDims = 12;
constexpr int64_t kK = 3;

/// A metric without a proved form, which "groups" alone can run.
class CApiFamily : public testing::Test {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    load("l2", &artifact);
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 16, nullptr, &index, nullptr)), "ok");
    options.size = sizeof options, stats.size = sizeof stats;
  }

  std::string searchBy(const char *family) {
    options.family = family;
    return outcome(annudf_ivf_flat_search(backend, index, artifact, nullptr, &asked, kK, 16,
                                          &options, found.ids.data(), found.distances.data(),
                                          &stats));
  }

  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, kDims, 1);
  const reference::Vectors queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, kDims, 2);
  const annudf_vectors rows = vectorsOf(base), asked = vectorsOf(queries);
  Found found = foundFor(queries, kK);
  annudf_ivf_flat_search_options options = {};
  annudf_ivf_flat_search_stats stats = {};
  OwnedArtifact artifact;
  OwnedIndex index;
  OwnedBackend backend;
};

constexpr const char *kUnknown =
    "usage: no family of kernels is called 'tiles'; there are groups, matrix";
constexpr const char *kUnfit = "input: family 'matrix' cannot run this search: the metric is not "
                               "proved to be a quadratic form";

TEST_F(CApiFamily, RunsTheOneThatIsAskedForAndSaysSo) {
  ASSERT_EQ(searchBy(nullptr), "ok");
  EXPECT_STREQ(stats.why,
               "matrix products need a proved metric and rows of f32 of at most 8192 dimensions");
  const Found expected = found;
  ASSERT_EQ(searchBy(""), "ok");
  EXPECT_STREQ(stats.why,
               "matrix products need a proved metric and rows of f32 of at most 8192 dimensions");
  found = foundFor(queries, kK);
  ASSERT_EQ(searchBy("groups"), "ok");
  EXPECT_STREQ(stats.family, "groups");
  EXPECT_STREQ(stats.why, "matrix products need a proved metric and rows of f32 of at most 8192 "
                          "dimensions; chosen by name");
  EXPECT_EQ(found, expected);
}

TEST_F(CApiFamily, RefusesEveryOther) {
  const Found before = found;
  EXPECT_EQ(searchBy("tiles"), kUnknown);
  EXPECT_EQ(searchBy("Groups"),
            "usage: no family of kernels is called 'Groups'; there are groups, matrix");
  EXPECT_EQ(searchBy("matrix"), kUnfit);
  EXPECT_EQ(found, before);
  // A caller of an older header has no such field.
  options.size = offsetof(annudf_ivf_flat_search_options, family);
  EXPECT_EQ(searchBy(reinterpret_cast<const char *>(uintptr_t(1))), "ok");
}

TEST_F(CApiFamily, APreparedSearchIsRefusedBeforeItRuns) {
  const auto prepare = [&](const char *family) {
    options.family = family;
    annudf_ivf_flat_prepared *prepared = nullptr;
    const std::string said = outcome(annudf_ivf_flat_prepare(
        backend, index, artifact, nullptr, &asked, kK, 4, &options, &prepared, nullptr));
    EXPECT_EQ(prepared != nullptr, said == "ok");
    annudf_ivf_flat_prepared_destroy(prepared);
    return said;
  };
  EXPECT_EQ(prepare("groups"), "ok");
  EXPECT_EQ(prepare("tiles"), kUnknown);
  EXPECT_EQ(prepare("matrix"), kUnfit);
}

TEST_F(CApiFamily, HoldsForWhatRepeatsASearchAndForBruteForce) {
  for (const auto &[family, expected] :
       {std::pair("groups", "ok"), std::pair("tiles", kUnknown), std::pair("matrix", kUnfit)}) {
    options.family = family;
    annudf_radius_result *within = nullptr;
    EXPECT_EQ(outcome(annudf_ivf_flat_radius_search(backend, index, artifact, nullptr, &asked, 1,
                                                    16, 0, &options, &within, &stats)),
              expected);
    annudf_radius_result_destroy(within);
    int64_t probes = 0;
    EXPECT_EQ(outcome(annudf_ivf_flat_tune_n_probes(backend, index, artifact, nullptr, &asked, kK,
                                                    0.9, &options, &probes, &stats)),
              expected);
    EXPECT_EQ(
        outcome(annudf_brute_force_knn(backend, artifact, nullptr, &rows, &asked, kK, &options,
                                       found.ids.data(), found.distances.data(), &stats)),
        expected);
  }
}

/// With the reason of the choice.
TEST_F(CApiFamily, TellsWhatShareOfRowsPasses) {
  ASSERT_EQ(searchBy(nullptr), "ok");
  EXPECT_EQ(stats.passing_share, 1);
  std::vector<uint8_t> quarter(3000);
  for (size_t id = 0; id < quarter.size(); id += 4)
    quarter[id] = 1;
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bytes(quarter.data(), 3000, &filter)), "ok");
  options.filter = filter;
  ASSERT_EQ(searchBy(nullptr), "ok");
  EXPECT_EQ(stats.passing_share, 0.25);
  EXPECT_STREQ(stats.why, "matrix products need a proved metric and rows of f32 of at most 8192 "
                          "dimensions, 25 % of rows pass");
  ASSERT_EQ(searchBy("groups"), "ok");
  EXPECT_STREQ(stats.why, "matrix products need a proved metric and rows of f32 of at most 8192 "
                          "dimensions, 25 % of rows pass; chosen by name");
  // A caller of an older header has no such field.
  stats.size = offsetof(annudf_ivf_flat_search_stats, passing_share);
  stats.passing_share = 7;
  ASSERT_EQ(searchBy(nullptr), "ok");
  EXPECT_EQ(stats.passing_share, 7);
}

TEST_F(CApiFamily, EveryDistanceAndAFilterOfCodeTakeNone) {
  options.family = "groups";
  std::vector<float> all(40 * 3000);
  const std::string why = ": options.family is 'groups'; calls that compute every distance have no "
                          "choice of family, so leave it out";
  EXPECT_EQ(outcome(annudf_ivf_flat_distances(backend, index, artifact, nullptr, &asked, &options,
                                              all.data(), nullptr)),
            "usage: annudf_ivf_flat_distances" + why);
  EXPECT_EQ(outcome(annudf_pairwise_distance(backend, artifact, nullptr, &asked, &rows, &options,
                                             all.data(), nullptr)),
            "usage: annudf_pairwise_distance" + why);
  annudf_filter *filter = nullptr;
  EXPECT_EQ(
      outcome(annudf_ivf_flat_filter(backend, index, artifact, nullptr, 0, &options, &filter)),
      "usage: annudf_ivf_flat_filter: options.family is 'groups'; a filter with code has no choice "
      "of family, so leave it out");
  EXPECT_EQ(filter, nullptr);
  options.family = "";
  EXPECT_EQ(outcome(annudf_ivf_flat_distances(backend, index, artifact, nullptr, &asked, &options,
                                              all.data(), nullptr)),
            "ok");
}

} // namespace
