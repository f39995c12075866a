//===- SearchTest.cpp - Searching through the C API -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeApi.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace annudf;
using namespace annudf::test;

namespace {

constexpr int64_t kDims = 12;
const annudf_extents kExtents = {sizeof kExtents, kDims, 0, 0};

class CApiSearch : public testing::Test {
protected:
  void SetUp() override {
    openCpu(2, &backend);
    if (!backend)
      return;
    const TestMetric &test = testMetric("weighted_l2");
    load(test.name, &artifact);
    const annudf_vectors rows = vectorsOf(base);
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 16, nullptr, &index, nullptr)), "ok");
    bindWeights(artifact, someWeights(kDims), &captures);
  }

  std::string search(const reference::Vectors &from, int64_t k, int64_t probes, Found &found,
                     const annudf_ivf_flat_search_options *options = nullptr,
                     annudf_ivf_flat_search_stats *stats = nullptr) {
    const annudf_vectors rows = vectorsOf(from);
    return outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, k, probes,
                                          options, found.ids.data(), found.distances.data(),
                                          stats));
  }

  const reference::Vectors base = reference::randomVectors(ANNUDF_ELEMENT_F32, 3000, kDims, 1);
  const reference::Vectors queries = reference::randomVectors(ANNUDF_ELEMENT_F32, 40, kDims, 2);
  OwnedArtifact artifact;
  OwnedIndex index;
  OwnedCaptures captures;
  OwnedBackend backend;
};

TEST_F(CApiSearch, ProbesListsThatWereRankedBefore) {
  constexpr int64_t probes = 3, k = 5;
  const int64_t count = queries.rows;
  std::vector<uint32_t> lists(size_t(count * probes));
  const annudf_vectors asked = vectorsOf(queries);
  const auto rank = [&](const annudf_vectors &of, int64_t n, uint32_t *to) {
    return outcome(annudf_ivf_flat_rank_lists(backend, index, artifact, &of, n, to));
  };
  ASSERT_EQ(rank(asked, probes, lists.data()), "ok");
  annudf_vectors half = asked; // Ranked in two parts, they are the same.
  half.rows = count / 2;
  std::vector<uint32_t> parts(lists.size());
  ASSERT_EQ(rank(half, probes, parts.data()), "ok");
  half.data = static_cast<const float *>(asked.data) + half.rows * kDims;
  half.rows = count - half.rows;
  ASSERT_EQ(rank(half, probes, parts.data() + (count / 2) * probes), "ok");
  EXPECT_EQ(parts, lists);
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options, options.lists = lists.data();
  Found expected = foundFor(queries, k), found = expected;
  ASSERT_EQ(search(queries, k, probes, expected), "ok");
  ASSERT_EQ(search(queries, k, probes, found, &options), "ok");
  EXPECT_EQ(found, expected);
  for (uint32_t &list : lists) // Others give others.
    list = (list + 1) % 16;
  ASSERT_EQ(search(queries, k, probes, found, &options), "ok");
  EXPECT_FALSE(found == expected);
  lists[4] = 16;
  EXPECT_NE(search(queries, k, probes, found, &options).find("query 1 names list 16 at 1"),
            std::string::npos);
  lists[4] = lists[3];
  EXPECT_NE(search(queries, k, probes, found, &options).find("name each list once a query"),
            std::string::npos);
  EXPECT_NE(rank(asked, 17, lists.data()).find("n_probes is 17"), std::string::npos);
  options.max_probes = 16;
  EXPECT_NE(search(queries, k, probes, found, &options)
                .find("options.lists and options.max_probes are set"),
            std::string::npos);
  options.max_probes = 0;
  std::vector<float> distances(size_t(count * 3000));
  EXPECT_NE(outcome(annudf_ivf_flat_distances(backend, index, artifact, captures, &asked, &options,
                                              distances.data(), nullptr))
                .find("options.lists is set; the call has no use for it"),
            std::string::npos);
}

TEST_F(CApiSearch, TimesItsStagesIfAsked) {
  Found found = foundFor(queries, 3);
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(search(queries, 3, 16, found, &options, &stats), "ok");
  EXPECT_EQ(stats.n_stages, 0);
  EXPECT_EQ(stats.rows_per_query, 0);
  EXPECT_EQ(stats.evaluated_per_query, 0);
  EXPECT_EQ(stats.workspace_bytes, 0u); // A device's.
  options.time_stages = 1;
  ASSERT_EQ(search(queries, 3, 16, found, &options, &stats), "ok");
  std::string names;
  double sum = 0;
  for (int i = 0; i < stats.n_stages; ++i) {
    names += std::string(stats.stages[i].name) + " ";
    sum += stats.stages[i].ms;
  }
  EXPECT_EQ(names, "coarse sort scan finish ");
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, stats.search_ms);
  EXPECT_EQ(stats.rows_per_query, 3000); // All lists are probed.
  EXPECT_EQ(stats.evaluated_per_query, 3000);
  ASSERT_EQ(search(queries, 3, 1, found, &options, &stats), "ok");
  EXPECT_GE(stats.rows_per_query, 1);
  EXPECT_LT(stats.rows_per_query, 3000);
  // A caller of the time before knows neither.
  options.size = offsetof(annudf_ivf_flat_search_options, time_stages);
  ASSERT_EQ(search(queries, 3, 16, found, &options, &stats), "ok");
  EXPECT_EQ(stats.n_stages, 0);
}

TEST_F(CApiSearch, EqualsBruteForce) {
  const int64_t k = 7;
  Found found = foundFor(queries, k);
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(search(queries, k, 16, found, nullptr, &stats), "ok");
  EXPECT_EQ(stats.links, 1);
  EXPECT_GT(stats.link_ms, 0);
  EXPECT_GT(stats.search_ms, 0);
  EXPECT_STREQ(stats.family, "groups");
  EXPECT_STREQ(stats.why,
               "matrix products need a proved metric and rows of f32 of at most 8192 dimensions");
  const std::vector<float> weights = someWeights(kDims);
  const auto distance = [&](const double *x, const double *y, int32_t dims) {
    double total = 0;
    for (int32_t d = 0; d < dims; ++d)
      total += weights[size_t(d)] * (x[d] - y[d]) * (x[d] - y[d]);
    return total;
  };
  for (int64_t q = 0; q < queries.rows; ++q)
    ASSERT_EQ("", reference::check(base, reference::allRows(3000), queries.row(q), k,
                                   ANNUDF_ORDER_MIN, distance, &found.ids[size_t(q * k)],
                                   &found.distances[size_t(q * k)], 1e-5, 1e-6))
        << q;
  // The same again, without a link.
  ASSERT_EQ(search(queries, k, 16, found, nullptr, &stats), "ok");
  EXPECT_EQ(stats.links, 0);
}

TEST_F(CApiSearch, FewerRowsThanKLeaveMinusOne) {
  const auto two = reference::encode(ANNUDF_ELEMENT_F32, 2, {0, 0, 0, 1, 100, 100, 100, 101});
  const annudf_vectors rows = vectorsOf(two);
  OwnedIndex small;
  ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &rows, 2, nullptr, &small, nullptr)), "ok");
  OwnedCaptures ones;
  bindWeights(artifact, {1, 1}, &ones);
  const auto query = reference::encode(ANNUDF_ELEMENT_F32, 2, {0, 0});
  const annudf_vectors one = vectorsOf(query);
  Found found = foundFor(query, 4);
  ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, small, artifact, ones, &one, 4, 1, nullptr,
                                           found.ids.data(), found.distances.data(), nullptr)),
            "ok");
  EXPECT_EQ(found.ids, (std::vector<int64_t>{0, 1, -1, -1}));
  EXPECT_EQ(found.distances, (std::vector<float>{0, 1, INFINITY, INFINITY}));
}

TEST_F(CApiSearch, AMetricWithoutCapturesNeedsNoHandle) {
  OwnedArtifact l2;
  load("l2", &l2);
  const annudf_vectors rows = vectorsOf(queries);
  Found found = foundFor(queries, 3), same = found;
  ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, index, l2, nullptr, &rows, 3, 4, nullptr,
                                           found.ids.data(), found.distances.data(), nullptr)),
            "ok");
  OwnedCaptures none;
  ASSERT_EQ(annudf_captures_bind(l2, &kExtents, nullptr, 0, nullptr, &none), ANNUDF_OK);
  ASSERT_EQ(outcome(annudf_ivf_flat_search(backend, index, l2, none, &rows, 3, 4, nullptr,
                                           same.ids.data(), same.distances.data(), nullptr)),
            "ok");
  EXPECT_EQ(found, same);
}

TEST_F(CApiSearch, MoreProbesThanListsAreAllLists) {
  Found all = foundFor(queries, 10), more = all;
  ASSERT_EQ(search(queries, 10, 16, all), "ok");
  for (const int64_t probes : {17, 1 << 24}) {
    ASSERT_EQ(search(queries, 10, probes, more), "ok") << probes;
    EXPECT_EQ(more, all) << probes;
  }
}

TEST_F(CApiSearch, RefusesBadArguments) {
  Found found = foundFor(queries, 10);
  EXPECT_EQ(search(queries, 0, 4, found),
            "usage: k is 0, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(search(queries, int64_t(1) << 33, 4, found),
            "usage: k is 8589934592, it must be an integer from 1 to 1073741824");
  EXPECT_EQ(search(queries, 10, 0, found),
            "usage: n_probes is 0, it must be an integer from 1 to 16777216");
  EXPECT_EQ(search(queries, 10, (1 << 24) + 1, found),
            "usage: n_probes is 16777217, it must be an integer from 1 to 16777216");
  const auto faultOfLast = [] {
    const annudf_argument_fault &fault = *annudf_last_argument_fault();
    return std::vector<std::string>{fault.argument, fault.value, fault.allowed};
  };
  using Fault = std::vector<std::string>;
  EXPECT_EQ(faultOfLast(), (Fault{"n_probes", "16777217", "an integer from 1 to 16777216"}));
  EXPECT_EQ(search(queries, 3001, 4, found), "usage: k is 3001, but the index has 3000 rows");
  EXPECT_EQ(faultOfLast(), (Fault{"k", "3001", "an integer from 1 to 3000"}));
  const auto narrow = reference::randomVectors(ANNUDF_ELEMENT_F32, 2, 3, 1);
  EXPECT_EQ(search(narrow, 3, 4, found), "input: queries have 3 dims, the index has 12");
  EXPECT_EQ(faultOfLast(), (Fault{"queries", "", ""}));
  auto none = queries;
  none.rows = 0;
  EXPECT_EQ(search(none, 3, 4, found), "input: queries: there are 0 rows; give at least one");
  annudf_ivf_flat_search_stats stats = {};
  EXPECT_EQ(search(queries, 3, 4, found, nullptr, &stats),
            "usage: annudf_ivf_flat_search: annudf_ivf_flat_search_stats.size is 0; set it to "
            "sizeof(annudf_ivf_flat_search_stats)");
  EXPECT_EQ(faultOfLast(), (Fault{"", "", ""}));
  EXPECT_EQ(found, foundFor(queries, 10));
}

TEST_F(CApiSearch, RefusesBadArrays) {
  Found found = foundFor(queries, 10);

  const annudf_vectors rows = vectorsOf(queries);
  int64_t *const ids = found.ids.data();
  float *const distances = found.distances.data();
  const std::string who = "usage: annudf_ivf_flat_search: ";
  const auto call = [&](annudf_backend *b, annudf_ivf_flat_index *i, annudf_artifact *a,
                        const annudf_vectors *q, int64_t *to) {
    return outcome(
        annudf_ivf_flat_search(b, i, a, captures, q, 3, 4, nullptr, to, distances, nullptr));
  };
  EXPECT_EQ(call(nullptr, index, artifact, &rows, ids), who + "backend is NULL");
  EXPECT_EQ(call(backend, nullptr, artifact, &rows, ids), who + "index is NULL");
  EXPECT_EQ(call(backend, index, nullptr, &rows, ids), who + "artifact is NULL");
  EXPECT_EQ(call(backend, index, artifact, nullptr, ids), who + "queries is NULL");
  EXPECT_EQ(call(backend, index, artifact, &rows, nullptr), who + "ids is NULL");

  OwnedCaptures other;
  bindWeights(artifact, someWeights(5), &other);
  EXPECT_EQ(outcome(annudf_ivf_flat_search(backend, index, artifact, other, &rows, 3, 4, nullptr,
                                           ids, distances, nullptr))
                .find("usage: captures of metric 'weighted_l2' (artifact "),
            0u)
      << annudf_last_error();
  EXPECT_EQ(outcome(annudf_ivf_flat_search(backend, index, artifact, nullptr, &rows, 3, 4, nullptr,
                                           ids, distances, nullptr))
                .find("usage: metric 'weighted_l2' (artifact "),
            0u);
}

TEST_F(CApiSearch, QueriesMustBeFinite) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto some = queries;
    std::memcpy(some.encoded.data() + 4 * (31 * kDims + 5), &bad, 4);
    Found found = foundFor(some, 3);
    EXPECT_EQ(search(some, 3, 4, found), std::string("input: queries: row 31, dim 5 is ") +
                                             (std::isnan(bad) ? "nan"
                                              : bad > 0       ? "inf"
                                                              : "-inf") +
                                             "; every coordinate must be finite" +
                                             (std::isnan(bad) ? " unless index and metric say "
                                                                "missing_values"
                                                              : ""));
    EXPECT_EQ(found, foundFor(some, 3));
  }
}

TEST_F(CApiSearch, StatisticsWithoutWords) {
  Found found = foundFor(queries, 3), same = found;
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(search(queries, 3, 4, found, &options, &stats), "ok");
  EXPECT_STRNE(stats.family, "");
  EXPECT_STRNE(stats.why, "");
  const int64_t scored = stats.scored;
  options.skip_why = 1;
  ASSERT_EQ(search(queries, 3, 4, same, &options, &stats), "ok");
  EXPECT_STREQ(stats.family, "");
  EXPECT_STREQ(stats.why, "");
  EXPECT_EQ(stats.scored, scored);
  EXPECT_EQ(found, same);
}

TEST_F(CApiSearch, PrecompileLinksOnce) {
  annudf_ivf_flat_search_stats stats = {};
  stats.size = sizeof stats;
  ASSERT_EQ(outcome(annudf_ivf_flat_precompile(backend, artifact, ANNUDF_ELEMENT_F32, 0, &stats)),
            "ok");
  EXPECT_EQ(stats.links, 1);
  EXPECT_GT(stats.link_ms, 0);
  Found found = foundFor(queries, 3);
  ASSERT_EQ(search(queries, 3, 4, found, nullptr, &stats), "ok");
  EXPECT_EQ(stats.links, 0);
  EXPECT_EQ(stats.link_ms, 0);

  OwnedArtifact hamming;
  load("hamming", &hamming);
  EXPECT_TRUE(outcome(annudf_ivf_flat_precompile(backend, hamming, ANNUDF_ELEMENT_F32, 0, nullptr))
                  .ends_with(" takes i8, u8, not f32"))
      << annudf_last_error();
  EXPECT_EQ(outcome(annudf_ivf_flat_precompile(backend, hamming, 50, 0, nullptr)),
            "usage: annudf_ivf_flat_precompile: element is 50; use a value of enum annudf_element");
  EXPECT_EQ(annudf_ivf_flat_precompile(nullptr, hamming, 0, 0, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(annudf_ivf_flat_precompile(backend, nullptr, 0, 0, nullptr), ANNUDF_USAGE);
}

/// What it links is tested with the CUDA backend (LinkedScansTest.cpp).
TEST_F(CApiSearch, PrecompileForAnArchitectureRefuses) {
  EXPECT_EQ(annudf_ivf_flat_precompile(nullptr, nullptr, 0, 90, nullptr), ANNUDF_USAGE);
  EXPECT_EQ(outcome(annudf_ivf_flat_precompile(nullptr, artifact, 50, 90, nullptr)),
            "usage: annudf_ivf_flat_precompile: element is 50; use a value of enum annudf_element");
  EXPECT_EQ(outcome(annudf_ivf_flat_precompile(backend, artifact, 0, 90, nullptr)),
            "usage: annudf_ivf_flat_precompile: arch is 90, but the backend has one; set it to 0, "
            "or backend to NULL");
  EXPECT_EQ(outcome(annudf_ivf_flat_precompile(nullptr, artifact, 0, 0, nullptr)),
            "usage: annudf_ivf_flat_precompile: backend is NULL and arch is 0; give one of them");
  annudf_ivf_flat_search_stats stats = {};
  EXPECT_EQ(annudf_ivf_flat_precompile(nullptr, artifact, 0, 90, &stats), ANNUDF_USAGE);
  stats.size = sizeof stats;
  ::setenv("ANNUDF_CACHE_DISABLE", "1", 1);
  const std::string said =
      outcome(annudf_ivf_flat_precompile(nullptr, artifact, ANNUDF_ELEMENT_F32, 90, &stats));
  ::unsetenv("ANNUDF_CACHE_DISABLE");
  EXPECT_TRUE(said.ends_with("for sm_90 cannot be kept on disk: ANNUDF_CACHE_DISABLE is set") ||
              said.find("annudf was built without CUDA") != std::string::npos)
      << said;
}

TEST_F(CApiSearch, ProgressStopsASearch) {
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  struct State {
    std::thread::id thread = std::this_thread::get_id();
    int calls = 0, answer = 0;
  } state;
  options.progress_user = &state;
  options.progress = [](void *user, const char *stage, double done) {
    auto &self = *static_cast<State *>(user);
    EXPECT_STREQ(stage, "search");
    EXPECT_TRUE(done >= 0 && done <= 1) << done;
    EXPECT_EQ(self.thread, std::this_thread::get_id());
    ++self.calls;
    return self.answer;
  };
  Found found = foundFor(queries, 3);
  ASSERT_EQ(search(queries, 3, 16, found, &options), "ok");
  EXPECT_GE(state.calls, 2);
  state.answer = 1;
  EXPECT_EQ(search(queries, 3, 16, found, &options), "interrupted: interrupted (search)");
  Found again = foundFor(queries, 3);
  ASSERT_EQ(search(queries, 3, 16, again), "ok");
}

TEST_F(CApiSearch, TheCpuHasNoDeviceMemory) {
  EXPECT_EQ(annudf_backend_get(backend)->device, -1);
  const std::string who =
      std::string("the backend is ") + annudf_backend_get(backend)->description + "; give ";
  Found found = foundFor(queries, 3);
  const annudf_vectors rows = onDevice(vectorsOf(queries));
  EXPECT_EQ(outcome(annudf_ivf_flat_search(backend, index, artifact, captures, &rows, 3, 4, nullptr,
                                           found.ids.data(), found.distances.data(), nullptr)),
            "usage: annudf_ivf_flat_search: queries is in memory of CUDA device 0, " + who +
                "the backend of that device");
  OwnedDeviceBuffer buffer;
  OwnedEvent event;
  EXPECT_EQ(outcome(annudf_device_allocate(backend, 8, 0, &buffer)),
            "usage: annudf_device_allocate: " + who + "a CUDA backend");
  EXPECT_EQ(outcome(annudf_device_copy(backend, 1, 1, 1, 0)),
            "usage: annudf_device_copy: " + who + "a CUDA backend");
  EXPECT_EQ(outcome(annudf_device_synchronize(backend, 0)),
            "usage: annudf_device_synchronize: " + who + "a CUDA backend");
  EXPECT_EQ(outcome(annudf_event_record(backend, 0, &event)),
            "usage: annudf_event_record: " + who + "a CUDA backend");
}

TEST_F(CApiSearch, TheCpuTakesNoDeviceMemory) {
  OwnedArtifact weighted;
  load("weighted_l2", &weighted);
  const int64_t shape[] = {kDims};
  annudf_capture_value value = arrayValue("w", someWeights(kDims), shape);
  value.place = {ANNUDF_MEMORY_CUDA, 2, 0};
  value.data = reinterpret_cast<const void *>(uintptr_t(4096)); // Not looked at.
  OwnedCaptures captures;
  ASSERT_EQ(outcome(annudf_captures_bind(weighted, &kExtents, &value, 1, nullptr, &captures)),
            "ok");
  const auto one = reference::randomVectors(ANNUDF_ELEMENT_F32, 1, kDims, 2);
  const annudf_vectors rows = vectorsOf(one);
  int64_t id;
  float distance;
  EXPECT_EQ(outcome(annudf_ivf_flat_search(backend, index, weighted, captures, &rows, 1, 1, nullptr,
                                           &id, &distance, nullptr)),
            "usage: capture 'w' is on CUDA device 2; the CPU backend takes host memory");
}

/// 8 threads that build, bind and search at once find what one thread finds.
TEST_F(CApiSearch, ThreadsThatBuildBindAndSearch) {
  constexpr int kThreads = 8, kRounds = 3;
  const auto work = [&](int variant, Found &found) {
    const auto rows =
        reference::randomVectors(ANNUDF_ELEMENT_F32, 600, kDims, 100 + uint64_t(variant % 4));
    const annudf_vectors view = vectorsOf(rows), queryView = vectorsOf(queries);
    OwnedIndex own;
    OwnedCaptures bound;
    ASSERT_EQ(outcome(annudf_ivf_flat_build(nullptr, &view, 6, nullptr, &own, nullptr)), "ok");
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, own, &view, nullptr, nullptr)), "ok");
    bindWeights(artifact, someWeights(kDims, variant), &bound);
    Found first = foundFor(queries, 5), second = first;
    ASSERT_EQ(
        outcome(annudf_ivf_flat_search(backend, own, artifact, bound, &queryView, 5, 3, nullptr,
                                       first.ids.data(), first.distances.data(), nullptr)),
        "ok");
    ASSERT_EQ(
        outcome(annudf_ivf_flat_search(backend, index, artifact, bound, &queryView, 5, 3, nullptr,
                                       second.ids.data(), second.distances.data(), nullptr)),
        "ok");
    // Rows are there twice, so equal distances may come in any order: ids are not compared.
    found.distances = first.distances;
    found.ids = second.ids;
    found.distances.insert(found.distances.end(), second.distances.begin(), second.distances.end());
  };
  std::vector<Found> alone(kThreads);
  for (int t = 0; t < kThreads; ++t)
    work(t, alone[size_t(t)]);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        Found found;
        work(t, found);
        EXPECT_EQ(found, alone[size_t(t)]) << "thread " << t;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Searches see the index before an extend or after it, never between; a stream of
/// searches without a gap does not keep it out.
TEST_F(CApiSearch, ExtendDuringSearches) {
  constexpr int kExtends = 6, kSearchers = 4;
  const annudf_vectors queryView = vectorsOf(queries);
  std::vector<reference::Vectors> added;
  for (int i = 0; i < kExtends; ++i)
    added.push_back(reference::randomVectors(ANNUDF_ELEMENT_F32, 500, kDims, 900 + uint64_t(i)));
  const auto find = [&](const annudf_ivf_flat_index *in) {
    Found found = foundFor(queries, 6);
    EXPECT_EQ(
        outcome(annudf_ivf_flat_search(backend, in, artifact, captures, &queryView, 6, 16, nullptr,
                                       found.ids.data(), found.distances.data(), nullptr)),
        "ok");
    return found;
  };
  OwnedIndex step;
  const annudf_vectors rows = vectorsOf(base);
  ASSERT_EQ(annudf_ivf_flat_build(nullptr, &rows, 16, nullptr, &step, nullptr), ANNUDF_OK);
  std::vector<Found> expected = {find(step)};
  for (const reference::Vectors &more : added) {
    const annudf_vectors view = vectorsOf(more);
    ASSERT_EQ(annudf_ivf_flat_extend(nullptr, step, &view, nullptr, nullptr), ANNUDF_OK);
    expected.push_back(find(step));
  }
  std::atomic<bool> finished{false};
  std::atomic<int> searches{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kSearchers; ++t)
    threads.emplace_back([&] {
      size_t at = 0;
      while (!finished) {
        const Found found = find(index);
        // What was seen once does not go away.
        while (at < expected.size() && !(found == expected[at]))
          ++at;
        ASSERT_LT(at, expected.size());
        ++searches;
      }
    });
  std::thread reader([&] { // Properties never wait.
    int64_t last = 0;
    while (!finished) {
      const int64_t size = infoOf(index).rows;
      EXPECT_GE(size, last);
      last = size;
    }
  });
  for (const reference::Vectors &more : added) {
    const annudf_vectors view = vectorsOf(more);
    const int before = searches;
    while (searches < before + 4)
      std::this_thread::yield();
    ASSERT_EQ(outcome(annudf_ivf_flat_extend(nullptr, index, &view, nullptr, nullptr)), "ok");
  }
  finished = true;
  for (std::thread &thread : threads)
    thread.join();
  reader.join();
  EXPECT_EQ(find(index), expected.back());
}

} // namespace
