//===- SearchTeam.cpp - Searches that several backends share ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/SearchTeam.h"

#include "annudf/Support/Error.h"
#include "annudf/runtime/engine/Merge.h"
#include "annudf/runtime/engine/Radius.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace annudf::runtime {
namespace {

/// Queries that are worth a member's start.
constexpr int64_t kLeastQueries = 32;
/// Results of all members that are merged at once, so that they take some 100 MB at most.
constexpr int64_t kMergedResults = int64_t(1) << 23;

/// Gives each query's `found` results the room of k, the rest of which is no result.
void spread(int64_t *ids, float *distances, int64_t queries, int found, int k) {
  if (found == k)
    return;
  for (int64_t q = queries - 1; q >= 0; --q) {
    std::copy_backward(ids + q * found, ids + (q + 1) * found, ids + q * k + found);
    std::copy_backward(distances + q * found, distances + (q + 1) * found,
                       distances + q * k + found);
    std::fill(ids + q * k + found, ids + (q + 1) * k, -1);
  }
}

} // namespace

void withNumbers(const MatrixView &queries, bool missing, const std::function<void()> &work) {
  try {
    work();
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Input)
      checkFinite(queries, "queries", 0, missing ? NaNs::Missing : NaNs::Refused);
    throw;
  }
}

void addBeside(SearchStats &all, const SearchStats &one, double share) {
  const SearchStats before = all;
  addPart(all, one, share);
  all.linkMs = std::max(before.linkMs, one.linkMs);
  all.uploadMs = std::max(before.uploadMs, one.uploadMs);
  all.searchMs = std::max(before.searchMs, one.searchMs);
  all.stages = before.stages;
  for (const StageTime &stage : one.stages) {
    const auto known = std::ranges::find(all.stages, stage.name, &StageTime::name);
    if (known == all.stages.end())
      all.stages.push_back(stage);
    else
      known->ms = std::max(known->ms, stage.ms);
  }
}

void addShards(SearchStats &all, const Shards &shards, const std::vector<SearchStats> &costs,
               double share) {
  SearchStats together;
  double passing = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    addBeside(together, costs[i], 1);
    passing += costs[i].passingShare * double(shards[int(i)].size());
  }
  const double before = all.family.empty() ? 0 : all.passingShare;
  addPart(all, together, share);
  all.passingShare = before + passing / double(shards[0].rowsOfWhole()) * share;
}

SearchTeam::SearchTeam(Members members, TeamMode mode) : members_(std::move(members)), mode_(mode) {
  if (members_.empty())
    throw Error(ErrorKind::Usage, "devices: there are 0; give at least one");
}

std::vector<SearchTeam::Share> SearchTeam::split(int64_t queries) {
  const int64_t parts = std::clamp<int64_t>(queries / kLeastQueries, 1, size());
  const uint32_t first = parts == size() ? 0 : next_++;
  std::vector<Share> shares;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = queries * i / parts, end = queries * (i + 1) / parts;
    shares.push_back({int((first + uint32_t(i)) % uint32_t(size())), {begin, end - begin}});
  }
  return shares;
}

void SearchTeam::onEach(int count, const Progress &progress,
                        const std::function<void(int number, const Progress &progress)> &work,
                        const std::function<int(int number)> &memberOf) const {
  std::atomic<bool> isStopped{false};
  double most = 0; // Only the thread of the caller reads it.
  const Progress ofCaller = [&](const char *stage, double done) {
    most = std::max(most, done);
    if (!progress(stage, most))
      isStopped = true;
    return !isStopped;
  };
  if (progress) // The threads of a pool may do all the work.
    report(progress, "search", 0);
  const Progress ofOthers = [&](const char *, double) { return !isStopped; };
  parallelFor(count, count, [&](int64_t i, int worker) {
    const auto number = static_cast<int>(i);
    try {
      work(number, !progress ? Progress() : worker == 0 ? ofCaller : ofOthers);
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::Environment)
        throw;
      throw Error(error.kind(),
                  member(memberOf ? memberOf(number) : number).describe() + ": " + error.what());
    }
  });
}

void SearchTeam::search(const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries, int k,
                        const SearchParams &params, int64_t *ids, float *distances,
                        SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const auto start = std::chrono::steady_clock::now();
  SearchStats all;
  if (!isSharded(index)) {
    const std::vector<Share> shares = split(queries.rows);
    std::vector<SearchStats> costs(shares.size());
    withNumbers(queries, index.missingValues(), [&] {
      onEach(
          int(shares.size()), params.progress,
          [&](int i, const Progress &progress) {
            const auto &[number, part] = shares[size_t(i)];
            member(number).search(index, metric, captures, partOf(queries, part), k,
                                  partWith(params, part, queries.rows, progress),
                                  ids + part.first * k, distances + part.first * k,
                                  stats ? &costs[size_t(i)] : nullptr);
          },
          [&](int i) { return shares[size_t(i)].member; });
    });
    for (size_t i = 0; i < shares.size(); ++i)
      addBeside(all, costs[i], double(shares[i].part.count) / double(queries.rows));
  } else {
    const auto shards = Shards::of(index, size());
    const int64_t most = std::max<int64_t>(1, kMergedResults / (int64_t(size()) * k));
    for (int64_t first = 0; first < queries.rows; first += most)
      searchShards(*shards, metric, captures, queries,
                   {first, std::min(most, queries.rows - first)}, k, params, ids, distances,
                   stats ? &all : nullptr);
  }
  if (!stats)
    return;
  *stats = std::move(all);
  if (stats->searchMs > 0)
    stats->searchMs = std::max(0.0, msSince(start) - stats->linkMs - stats->uploadMs);
}

void SearchTeam::mergeShards(const Shards &shards, int64_t queries, int k, annudf_order order,
                             const Progress &progress, const SearchOfShard &search, int64_t *ids,
                             float *distances) const {
  const size_t results = size_t(queries) * size_t(k), parts = size_t(size());
  std::vector<int64_t> foundIds(results * parts, -1); // Which are no results.
  std::vector<float> foundDistances(results * parts);
  onEach(size(), progress, [&](int number, const Progress &told) {
    const int found = int(std::min<int64_t>(k, shards[number].size()));
    if (found == 0)
      return;
    int64_t *const toIds = foundIds.data() + size_t(number) * results;
    float *const toDistances = foundDistances.data() + size_t(number) * results;
    search(number, found, told, toIds, toDistances);
    spread(toIds, toDistances, queries, found, k);
  });
  mergeParts({foundIds.data(), foundDistances.data(), size(), queries, k, order, {}}, k, ids,
             distances);
}

void SearchTeam::searchShards(const Shards &shards, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries,
                              const QueryPart &part, int k, const SearchParams &params,
                              int64_t *ids, float *distances, SearchStats *stats) {
  std::vector<SearchStats> costs(static_cast<size_t>(size()));
  const auto search = [&](int number, int found, const Progress &progress, int64_t *toIds,
                          float *toDistances) {
    member(number).search(shards[number], metric, captures, partOf(queries, part), found,
                          partWith(params, part, queries.rows, progress), toIds, toDistances,
                          stats ? &costs[size_t(number)] : nullptr);
  };
  withNumbers(queries, shards[0].missingValues(), [&] {
    mergeShards(shards, part.count, k, metric.artifact.manifest.order, params.progress, search,
                ids + part.first * k, distances + part.first * k);
  });
  if (stats)
    addShards(*stats, shards, costs, double(part.count) / double(queries.rows));
}

} // namespace annudf::runtime
