//===- TeamBackend.cpp - A team of backends as one --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Radius.h"
#include "annudf/runtime/engine/SearchTeam.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace annudf::runtime {
namespace {

/// Distances of a shard's rows, as many queries at once as this many results are.
constexpr int64_t kScatteredResults = int64_t(1) << 22;

/// Writes the distances of a shard's rows to their columns.
void scatterDistances(Backend &backend, const Shard &shard, const MetricView &metric,
                      const BoundCaptures &captures, const MatrixView &queries,
                      const SearchParams &params, int64_t columns, float *distances,
                      SearchStats *stats) {
  if (shard.size() == 0)
    return;
  const int k = int(shard.size());
  const int64_t most = std::clamp<int64_t>(kScatteredResults / k, 1, queries.rows);
  std::vector<int64_t> ids(size_t(most * k));
  std::vector<float> found(ids.size());
  for (int64_t first = 0; first < queries.rows; first += most) {
    const QueryPart part = {first, std::min(most, queries.rows - first)};
    SearchStats cost;
    backend.search(shard, metric, captures, partOf(queries, part), k,
                   partOf(params, part, queries.rows), ids.data(), found.data(),
                   stats ? &cost : nullptr);
    if (stats)
      addPart(*stats, cost, double(part.count) / double(queries.rows));
    for (int64_t i = 0; i < part.count * k; ++i)
      if (ids[size_t(i)] >= 0) // A distance of NaN is not found.
        distances[(first + i / k) * columns + ids[size_t(i)]] = found[size_t(i)];
  }
}

class TeamBackend final : public Backend {
public:
  TeamBackend(SearchTeam::Members members, TeamMode mode) : team_(std::move(members), mode) {}
  void search(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats) override {
    team_.search(index, metric, captures, queries, k, params, ids, distances, stats);
  }
  void distances(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery) override {
    team_.distances(index, metric, captures, queries, progress, distances, stats, firstQuery);
  }
  WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, float radius,
                            int64_t mostResults, const SearchParams &params,
                            SearchStats *stats) override {
    return team_.searchRadius(index, metric, captures, queries, radius, mostResults, params, stats);
  }
  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    team_.precompile(metric, elements, stats);
  }
  std::span<const KernelFamily *const> families() const override {
    return team_.member(0).families();
  }
  Machine machine() const override { return team_.member(0).machine(); }
  std::string describe() const override { return team_.describe(); }

private:
  SearchTeam team_;
};

} // namespace

void SearchTeam::distances(const RowStore &index, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries,
                           const Progress &progress, float *distances, SearchStats *stats,
                           int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  const int64_t columns = index.size();
  const SearchParams params = {.firstQuery = firstQuery};
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  if (stats)
    *stats = {};
  if (!isSharded(index)) {
    // Captures of queries are of all of them, and a member is asked for all it is given.
    const bool isWhole = metric.artifact.manifest.hasQueryCaptures();
    const std::vector<Share> shares =
        isWhole ? std::vector<Share>{{0, {0, queries.rows}}} : split(queries.rows);
    std::vector<SearchStats> costs(shares.size());
    withNumbers(queries, index.missingValues(), [&] {
      onEach(
          int(shares.size()), progress,
          [&](int i, const Progress &told) {
            const auto &[number, part] = shares[size_t(i)];
            member(number).distances(index, metric, captures, partOf(queries, part), told,
                                     distances + part.first * columns,
                                     stats ? &costs[size_t(i)] : nullptr, firstQuery + part.first);
          },
          [&](int i) { return shares[size_t(i)].member; });
    });
    for (size_t i = 0; stats && i < shares.size(); ++i)
      addBeside(*stats, costs[i], double(shares[i].part.count) / double(queries.rows));
    return;
  }
  const auto shards = Shards::of(index, size());
  std::fill_n(distances, size_t(queries.rows) * size_t(columns),
              std::numeric_limits<float>::quiet_NaN());
  std::vector<SearchStats> costs(static_cast<size_t>(size()));
  withNumbers(queries, index.missingValues(), [&] {
    onEach(size(), progress, [&](int number, const Progress &told) {
      SearchParams some = params;
      some.progress = told;
      scatterDistances(member(number), (*shards)[number], metric, captures, queries, some, columns,
                       distances, stats ? &costs[size_t(number)] : nullptr);
    });
  });
  if (stats)
    addShards(*stats, *shards, costs, 1);
}

WithinRadius SearchTeam::searchRadius(const RowStore &index, const MetricView &metric,
                                      const BoundCaptures &captures, const MatrixView &queries,
                                      float radius, int64_t mostResults, const SearchParams &params,
                                      SearchStats *stats) {
  checkRadius(index, metric, queries, radius, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const bool sharded = isSharded(index);
  const auto shards = sharded ? Shards::of(index, size()) : nullptr;
  std::vector<Share> shares;
  if (sharded)
    for (int i = 0; i < size(); ++i)
      shares.push_back({i, {0, queries.rows}});
  else
    shares = split(queries.rows);
  std::vector<WithinRadius> found(shares.size());
  std::vector<SearchStats> costs(shares.size());
  const auto search = [&](int i, const Progress &progress) {
    const auto &[number, part] = shares[size_t(i)];
    const RowStore &rows = sharded ? static_cast<const RowStore &>((*shards)[i]) : index;
    WithinRadius &one = found[size_t(i)];
    if (rows.size() == 0) {
      one.starts.assign(size_t(part.count) + 1, 0);
      return;
    }
    one = member(number).searchRadius(rows, metric, captures, partOf(queries, part), radius,
                                      mostResults, partWith(params, part, queries.rows, progress),
                                      stats ? &costs[size_t(i)] : nullptr);
  };
  withNumbers(queries, index.missingValues(), [&] {
    onEach(int(shares.size()), params.progress, search,
           [&](int i) { return shares[size_t(i)].member; });
  });
  int64_t all = 0;
  for (const WithinRadius &one : found)
    all += one.starts.back();
  if (all > mostResults)
    throw TooManyResults(all, mostResults);
  if (stats) {
    *stats = {};
    if (sharded)
      addShards(*stats, *shards, costs, 1);
    else
      for (size_t i = 0; i < shares.size(); ++i)
        addBeside(*stats, costs[i], double(shares[i].part.count) / double(queries.rows));
  }
  return sharded ? joinRows(found, queries.rows, metric.artifact.manifest.order)
                 : joinQueries(std::move(found));
}

void SearchTeam::precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) {
  std::vector<SearchStats> costs(static_cast<size_t>(size()));
  onEach(size(), {}, [&](int i, const Progress &) {
    member(i).precompile(metric, elements, &costs[size_t(i)]);
  });
  if (!stats)
    return;
  *stats = {};
  for (const SearchStats &cost : costs)
    addBeside(*stats, cost, 1);
}

std::string SearchTeam::describe() const {
  std::string text = std::to_string(size()) + " devices, " +
                     (mode_ == TeamMode::Sharded ? "sharded" : "replicated");
  for (int i = 0; i < size(); ++i)
    text += (i == 0 ? ": " : "; ") + member(i).describe();
  return text;
}

std::unique_ptr<Backend> makeTeamBackend(SearchTeam::Members members, TeamMode mode) {
  return std::make_unique<TeamBackend>(std::move(members), mode);
}

} // namespace annudf::runtime
