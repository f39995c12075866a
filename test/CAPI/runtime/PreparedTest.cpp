//===- PreparedTest.cpp - Prepared searches in the C API ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU. DeviceTest.cpp has a GPU's.
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int64_t kDims = 12, kK = 5, kProbes = 4;

using OwnedPrepared = Owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy>;

class CApiPrepared : public testing::Test {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    load("weighted_l2", &artifact);
    const annudf_vectors rows = vectorsOf(base);
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 16, nullptr, &index, nullptr)), "ok");
    bindWeights(artifact, someWeights(kDims), &captures);
  }

  std::string prepare(annudf_ivf_flat_prepared **out, int64_t k = kK, int64_t probes = kProbes,
                      const annudf_ivf_flat_search_options *options = nullptr, uint64_t stream = 0,
                      annudf_ivf_flat_search_stats *stats = nullptr) {
    annudf_vectors shape = vectorsOf(queries);
    shape.data = nullptr, shape.place.stream = stream;
    return outcome(annudf_ivf_flat_prepare(backend, index, artifact, captures, &shape, k, probes,
                                           options, out, stats));
  }
  std::string run(annudf_ivf_flat_prepared *prepared, const reference::Vectors &from, Found &found,
                  annudf_ivf_flat_search_stats *stats = nullptr) {
    return outcome(annudf_ivf_flat_prepared_run(prepared, from.encoded.data(), found.ids.data(),
                                                found.distances.data(), stats));
  }
  Found expected(const reference::Vectors &from,
                 const annudf_ivf_flat_search_options *options = nullptr) {
    Found found = foundFor(from, kK);
    const annudf_vectors rows = vectorsOf(from);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, kK, kProbes,
                                       options, found.ids.data(), found.distances.data(), nullptr)),
        "ok");
    return found;
  }

  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, kDims, 1);
  const reference::Vectors queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, kDims, 2);
  const reference::Vectors others = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, kDims, 3);
  OwnedArtifact artifact;
  OwnedIndex index;
  OwnedCaptures captures;
  OwnedBackend backend;
};

TEST_F(CApiPrepared, FindsWhatASearchFinds) {
  OwnedPrepared prepared;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(prepare(&prepared, kK, kProbes, nullptr, 0, &stats), "ok");
  EXPECT_EQ(stats.search_ms, 0);
  for (const reference::Vectors *from : {&queries, &others, &queries}) {
    Found found = foundFor(*from, kK);
    ASSERT_EQ(run(prepared, *from, found), "ok");
    EXPECT_EQ(found, expected(*from));
  }
}

TEST_F(CApiPrepared, TellsOfNanOfEachRun) {
  load("cosine", &artifact);
  (void)&captures; // It has none.
  OwnedPrepared prepared;
  ASSERT_EQ(prepare(&prepared, kK, 16), "ok");
  reference::Vectors bad = queries;
  std::fill_n(bad.encoded.begin(), bad.encoded.size() / size_t(bad.rows), 0); // The first.
  Found found = foundFor(queries, kK);
  for (const int64_t nan : {3000, 0, 3000}) {
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    ASSERT_EQ(run(prepared, nan ? bad : queries, found, &stats), "ok");
    EXPECT_EQ(stats.scored, 40 * 3000);
    EXPECT_STRNE(stats.family, "");
    EXPECT_STRNE(stats.why, "");
    EXPECT_GT(stats.search_ms, 0);
    EXPECT_EQ(stats.links, 0); // Made by prepare.
    EXPECT_EQ(stats.nan_distances, nan);
    EXPECT_EQ(stats.nan_query, nan ? 0 : -1);
    EXPECT_EQ(stats.nan_row >= 0, nan != 0);
    ASSERT_EQ(run(prepared, bad, found), "ok"); // Whose count is in no other's.
  }
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(outcome(annudf_ivf_flat_prepared_stats(prepared, &stats)), "ok");
  EXPECT_EQ(stats.scored, 0);
  stats.size = 8;
  EXPECT_EQ(
      run(prepared, queries, found, &stats),
      "usage: annudf_ivf_flat_prepared_run: annudf_ivf_flat_search_stats.size is 8; set it to "
      "sizeof(annudf_ivf_flat_search_stats)");
}

TEST_F(CApiPrepared, HoldsWhatItNeeds) {
  std::vector<uint32_t> words((3000 + 31) / 32, 0x55555555u);
  OwnedFilter filter;
  ASSERT_EQ(outcome(annudf_filter_from_bitset(words.data(), 3000, &filter)), "ok");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.filter = filter;
  const Found want = expected(queries, &options);
  OwnedPrepared prepared;
  ASSERT_EQ(prepare(&prepared, kK, kProbes, &options), "ok");
  (void)&filter, (void)&captures, (void)&artifact, (void)&index, (void)&backend; // Destroyed.
  Found found = foundFor(queries, kK);
  ASSERT_EQ(run(prepared, queries, found), "ok");
  EXPECT_EQ(found, want);
}

TEST_F(CApiPrepared, AnIndexThatWasExtendedIsRefused) {
  OwnedPrepared prepared;
  ASSERT_EQ(prepare(&prepared), "ok");
  const annudf_vectors rows = vectorsOf(others);
  ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &rows, nullptr, nullptr)), "ok");
  Found found = foundFor(queries, kK);
  EXPECT_EQ(run(prepared, queries, found),
            "usage: annudf_ivf_flat_prepared_run: the index has changed since the search was "
            "prepared; prepare it again");
  EXPECT_EQ(found, foundFor(queries, kK));
  OwnedPrepared again;
  ASSERT_EQ(prepare(&again), "ok");
  ASSERT_EQ(run(again, queries, found), "ok");
  EXPECT_EQ(found, expected(queries));
}

TEST_F(CApiPrepared, MoreProbesThanListsAreAllLists) {
  OwnedPrepared all, more;
  ASSERT_EQ(prepare(&all, kK, 16), "ok");
  ASSERT_EQ(prepare(&more, kK, 17), "ok");
  Found ofAll = foundFor(queries, kK), ofMore = foundFor(queries, kK);
  ASSERT_EQ(run(all, queries, ofAll), "ok");
  ASSERT_EQ(run(more, queries, ofMore), "ok");
  EXPECT_EQ(ofMore, ofAll);
}

TEST_F(CApiPrepared, RefusesBadArguments) {
  OwnedPrepared prepared;
  EXPECT_EQ(prepare(&prepared, 0), "usage: k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(prepare(&prepared, 3001), "usage: k is 3001, but the index has 3000 rows");
  EXPECT_EQ(prepare(&prepared, kK, 0),
            "usage: n_probes is 0, it must be an integer from 1 to 16777216");
  EXPECT_EQ(prepare(nullptr), "usage: annudf_ivf_flat_prepare: prepared is NULL");
  EXPECT_EQ(prepare(&prepared, kK, kProbes, nullptr, 5),
            "usage: annudf_ivf_flat_prepare: queries.place.stream is 5, but memory is "
            "ANNUDF_MEMORY_HOST; set it to 0, or memory to ANNUDF_MEMORY_CUDA");
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.time_stages = 1;
  EXPECT_EQ(prepare(&prepared, kK, kProbes, &options),
            "usage: annudf_ivf_flat_prepare: options.time_stages is set; prepared searches do not "
            "support it, leave it out");
  options.progress = [](void *, const char *, double) { return 0; };
  EXPECT_EQ(prepare(&prepared, kK, kProbes, &options),
            "usage: annudf_ivf_flat_prepare: options.progress is set; prepared searches do not "
            "support it, leave it out");
  ASSERT_EQ(prepare(&prepared), "ok");
  Found found = foundFor(queries, kK);
  EXPECT_EQ(outcome(annudf_ivf_flat_prepared_run(nullptr, queries.encoded.data(), found.ids.data(),
                                                 found.distances.data(), nullptr)),
            "usage: annudf_ivf_flat_prepared_run: prepared is NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_prepared_run(prepared, nullptr, found.ids.data(),
                                                 found.distances.data(), nullptr)),
            "usage: annudf_ivf_flat_prepared_run: queries is NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_prepared_run(prepared, queries.encoded.data(), nullptr,
                                                 found.distances.data(), nullptr)),
            "usage: annudf_ivf_flat_prepared_run: ids is NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_prepared_run(prepared, queries.encoded.data(), found.ids.data(),
                                                 nullptr, nullptr)),
            "usage: annudf_ivf_flat_prepared_run: distances is NULL");
  annudf_ivf_flat_prepared_destroy(nullptr);
}

} // namespace
