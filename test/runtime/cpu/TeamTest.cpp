//===- TeamTest.cpp - Searches that several CPU backends share ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TeamTesting.h"

#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/engine/Radius.h"

#include <thread>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

std::shared_ptr<Backend> shared(int threads) { return makeCpuBackend(threads); }

/// One backend, and teams of two and of three.
struct Teams {
  std::shared_ptr<Backend> one = shared(2), other = shared(1);
  std::unique_ptr<Backend> replicated = makeTeamBackend({one, other}, TeamMode::Replicated),
                           sharded = makeTeamBackend({one, other}, TeamMode::Sharded),
                           three = makeTeamBackend({one, other, one}, TeamMode::Sharded);
  std::vector<NamedTeam> named() const {
    return {{"replicated", replicated.get()}, {"sharded", sharded.get()}, {"three", three.get()}};
  }
};

std::shared_ptr<const Metric> tenantFilter() {
  static const auto filter = std::make_shared<const Metric>(
      Metric::fromArtifact(sameTenant(readBitcode("same_tenant")), "same_tenant.annudf"));
  return filter;
}

TEST(CpuTeam, SearchesEqualThoseOfOneBackend) {
  std::vector<TestMetric> metrics = {provedMetrics().front()};
  for (const char *name : {"l2", "weighted_l2", "inner_product", "cosine", "hamming"})
    metrics.push_back(testMetric(name));
  const Teams teams;
  EXPECT_GE(checkTeams(*teams.one, teams.named(), metrics, compiled, tenantFilter()), 400);
}

TEST(CpuTeam, ShardsTakeEachRowOnce) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kTeamRows, 24, 1);
  for (const OwnIndex &own : teamIndexes(base))
    for (const int count : {1, 2, 3, 40}) {
      const auto shards = Shards::of(own.index, count);
      EXPECT_EQ(Shards::of(own.index, count), shards);
      const std::vector<int64_t> firstSlots = firstSlotsOf(own.index);
      int64_t rows = 0;
      for (uint32_t l = 0; l < own.index.nLists(); ++l) {
        const List &whole = own.index.list(l);
        int64_t least = whole.size, most = 0;
        for (int s = 0; s < count; ++s) {
          const List &part = (*shards)[s].list(l);
          rows += part.size;
          least = std::min(least, part.groups()), most = std::max(most, part.groups());
          for (int64_t i = 0; i < part.size; ++i) {
            const auto at = std::ranges::find(whole.ids, part.ids[size_t(i)]) - whole.ids.begin();
            ASSERT_LT(at, whole.size);
            EXPECT_EQ(shards->ofSlot(firstSlots[l] + at), s);
            EXPECT_EQ(std::memcmp((*shards)[s].columnsOf(l)[0].data() + i * 4,
                                  own.index.columnsOf(l)[0].data() + at * 4, 4),
                      0);
          }
        }
        EXPECT_LE(most - least, whole.groups() >= 8 * count ? 4 : 1);
      }
      EXPECT_EQ(rows, own.index.size());
    }
}

/// The words are the index's own, so a copy of it needs others, and so does a change.
TEST(CpuTeam, ShardsAreOfTheListsThatThereAre) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 200, 4, 1);
  Index index = Index::build({.nLists = 3, .threads = 2}, view(base));
  const auto before = Shards::of(index, 2);
  EXPECT_GE((*before)[0].list(0).words.data(), index.list(0).words.data());
  {
    const Index copy = index;
    const auto ofCopy = Shards::of(copy, 2);
    EXPECT_NE(ofCopy, before);
    EXPECT_EQ((*ofCopy)[0].list(0).words, (*before)[0].list(0).words);
  }
  Index moved = std::move(index);
  const auto again = Shards::of(moved, 2);
  EXPECT_EQ(Shards::of(moved, 2), again);
  std::vector<int32_t> tenants(200, 7);
  moved.addColumns(newColumns({{"tenant", valueOf(tenants)}}));
  EXPECT_EQ((*Shards::of(moved, 2))[1].columns().size(), 1u);
  const std::vector<int64_t> gone = {0, 1, 2};
  moved.remove(gone);
  EXPECT_EQ((*Shards::of(moved, 2))[0].size() + (*Shards::of(moved, 2))[1].size(), 197);
}

TEST(CpuTeam, RadiusAndEveryDistance) {
  const Teams teams;
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kTeamRows, 24, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kTeamQueries, 24, 2);
  const auto captures = bind(metric, 24);
  for (const OwnIndex &own : teamIndexes(base)) {
    const auto all = searchCell(*teams.one, {own.index, metric, queries, 60, {}});
    const float radius = all.distances[59];
    const WithinRadius expected =
        teams.one->searchRadius(own.index, metric, captures, view(queries), radius, 100000, {});
    ASSERT_GT(expected.ids.size(), 60u);
    for (const NamedTeam &team : teams.named()) {
      SCOPED_TRACE(own.name + ", " + team.name);
      const WithinRadius found = team.backend->searchRadius(own.index, metric, captures,
                                                            view(queries), radius, 100000, {});
      EXPECT_EQ(found.starts, expected.starts);
      EXPECT_TRUE(
          (FoundBits{found.ids, found.distances} == FoundBits{expected.ids, expected.distances}));
      EXPECT_THROW((void)team.backend->searchRadius(own.index, metric, captures, view(queries),
                                                    radius, std::ssize(expected.ids) - 1, {}),
                   TooManyResults);
      if (!own.index.idsAreRowNumbers())
        continue;
      std::vector<float> want(size_t(kTeamQueries * kTeamRows)), got(want.size());
      teams.one->distances(own.index, metric, captures, view(queries), {}, want.data());
      team.backend->distances(own.index, metric, captures, view(queries), {}, got.data());
      EXPECT_EQ(got, want);
    }
  }
}

TEST(CpuTeam, FiltersOfCodeAndCandidates) {
  const Teams teams;
  const Metric metric = compiled(testMetric("l2")),
               even = Metric::fromArtifact(evenRows(readBitcode("even_rows")), "even_rows.annudf");
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, kTeamRows, 24, 1),
             queries = reference::randomVectors(ANNUDF_ELEMENT_F32, kTeamQueries, 24, 2);
  for (const OwnIndex &own : teamIndexes(base)) {
    const auto candidates = someOf(own.ids, kTeamQueries, 33);
    const auto refined = [&](Backend &backend) {
      FoundBits found{std::vector<int64_t>(size_t(kTeamQueries * 9)),
                      std::vector<float>(size_t(kTeamQueries * 9))};
      refineOwn(backend, own.index, {candidates.data(), kTeamQueries, 33}, metric, bind(metric, 24),
                view(queries), 9, {}, found.ids.data(), found.distances.data());
      return found;
    };
    for (const NamedTeam &team : teams.named()) {
      SCOPED_TRACE(own.name + ", " + team.name);
      EXPECT_TRUE(refined(*team.backend) == refined(*teams.one));
      const RowFilter kept = keptRows(*team.backend, own.index, even, {}, 0, {});
      for (const int64_t id : own.ids)
        EXPECT_EQ(kept.passes(id), id % 2 == 0) << id;
    }
  }
}

TEST(CpuTeam, SmallBatchesGoRound) {
  const auto one = shared(1);
  SearchTeam team({one, one, one}, TeamMode::Replicated);
  std::vector<int> members;
  for (int i = 0; i < 4; ++i) {
    const auto shares = team.split(1);
    ASSERT_EQ(shares.size(), 1u);
    members.push_back(shares.front().member);
  }
  EXPECT_EQ(members, (std::vector<int>{0, 1, 2, 0}));
  int64_t next = 0;
  for (const SearchTeam::Share &share : team.split(100)) {
    EXPECT_EQ(share.part.first, next);
    next += share.part.count;
  }
  EXPECT_EQ(next, 100);
  EXPECT_THROW(SearchTeam({}, TeamMode::Sharded), Error);
}

TEST(CpuTeam, ErrorsNameTheMemberAndTheQuery) {
  const auto one = shared(1);
  SearchTeam team({one, one}, TeamMode::Sharded);
  std::atomic<int> ended{0};
  const auto message = [&](ErrorKind kind) {
    return messageOf([&] {
      team.onEach(2, {}, [&](int number, const Progress &) {
        if (number == 1)
          throw Error(kind, "no room");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++ended;
      });
    });
  };
  EXPECT_EQ(message(ErrorKind::Environment), one->describe() + ": no room");
  EXPECT_EQ(ended, 1); // It was waited for.
  EXPECT_EQ(message(ErrorKind::Usage), "no room");
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 4, 1);
  const Index index = Index::build({.nLists = 3, .threads = 2}, view(base));
  std::vector<float> queries(size_t(100 * 4), 1.0f);
  queries[size_t(90 * 4 + 2)] = NAN;
  for (const TeamMode mode : {TeamMode::Replicated, TeamMode::Sharded}) {
    const auto both = makeTeamBackend({one, one}, mode);
    std::vector<int64_t> ids(100);
    std::vector<float> distances(100);
    const auto said = [&](Backend &backend) {
      return messageOf([&] {
        backend.search(index, metric, {}, {queries.data(), 100, 4, ANNUDF_ELEMENT_F32}, 1, {},
                       ids.data(), distances.data());
      });
    };
    EXPECT_EQ(said(*both), said(*one));
    const auto within = [&](Backend &backend) {
      return messageOf([&] {
        (void)backend.searchRadius(index, metric, {}, {queries.data(), 100, 4, ANNUDF_ELEMENT_F32},
                                   1, 1000, {});
      });
    };
    EXPECT_EQ(within(*both), within(*one));
    std::vector<float> all(size_t(100 * 300));
    const auto every = [&](Backend &backend) {
      return messageOf([&] {
        backend.distances(index, metric, {}, {queries.data(), 100, 4, ANNUDF_ELEMENT_F32}, {},
                          all.data());
      });
    };
    EXPECT_EQ(every(*both), every(*one));
    EXPECT_NE(said(*both).find("90"), std::string::npos) << said(*both);
  }
}

TEST(CpuTeam, ProgressStopsAllMembers) {
  const auto one = shared(1);
  const Metric metric = compiled(testMetric("l2"));
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_F32, 300, 4, 1);
  const Index index = Index::build({.nLists = 3, .threads = 2}, view(base));
  const auto caller = std::this_thread::get_id();
  for (const TeamMode mode : {TeamMode::Replicated, TeamMode::Sharded}) {
    const auto both = makeTeamBackend({one, one}, mode);
    std::vector<int64_t> ids(200);
    std::vector<float> distances(200);
    bool isCaller = true;
    SearchParams params;
    params.progress = [&](const char *, double) {
      isCaller = isCaller && std::this_thread::get_id() == caller;
      return false;
    };
    EXPECT_THROW(both->search(index, metric, {}, partOf(base, 0, 200), 1, params, ids.data(),
                              distances.data()),
                 Error);
    EXPECT_TRUE(isCaller);
  }
}

} // namespace
