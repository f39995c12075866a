//===- TeamSearch.cpp - Searches that devices share all along -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTeam.h"
#include "TeamCall.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace annudf::runtime::cuda {
namespace {

/// Queries that are worth ranking on several devices: more than one kernel ranks at once.
constexpr int64_t kRankedTogether = 2 * ANNUDF_FEW_QUERIES;
/// Queries that share a list, from which on half of them do so as well; and pairs of a query and a
/// row, from which on merging is worth what it saves nevertheless.
constexpr double kSharedBy = 128, kLongScan = 5e8;
/// Queries of host arrays that are staged at once.
constexpr int64_t kStagedQueries = 1 << 15;
/// Devices that one thread serves in turn.
constexpr int kServedInTurn = 4;

/// Copies by all threads.
void copyBytes(void *to, const void *from, size_t bytes) {
  constexpr size_t kPiece = size_t(1) << 18;
  parallelFor(0, int64_t((bytes + kPiece - 1) / kPiece), [&](int64_t i, int) {
    const size_t begin = size_t(i) * kPiece;
    std::memcpy(static_cast<std::byte *>(to) + begin, static_cast<const std::byte *>(from) + begin,
                std::min(kPiece, bytes - begin));
  });
}

} // namespace

bool DeviceTeam::isTogether(const RowStore &index, const MatrixView &queries,
                            const SearchParams &params) const {
  if (count() == 1 || index.holdsCandidates() || !areRanked(index, params.candidates) ||
      queries.rows < kRankedTogether)
    return false;
  if (isSharded())
    return true;
  // With all rows a device can scan half of the lists for all queries, or all lists for half of
  // them: lists are shared by so few queries then that a scan takes longer than its half.
  const double pairs = double(queries.rows) * probesOf(index, params.candidates) / index.nLists();
  return pairs < kSharedBy || pairs * double(index.size()) > kLongScan;
}

const RowStore &DeviceTeam::rowsOf(const Call &call, const Shards *shards, int number) {
  return shards ? static_cast<const RowStore &>((*shards)[number]) : call.index;
}

bool DeviceTeam::isWarm(const Call &call) {
  const auto like = std::hash<std::string>()(
      call.metric.digest + std::to_string(call.index.generation()) + " " +
      std::to_string(call.queries.rows) + " " + std::to_string(call.k) + " " +
      std::to_string(probesOf(call.index, call.params.candidates)) + call.params.family +
      (call.params.filter ? std::to_string(call.params.filter->number()) : "") +
      (call.params.predicate ? "p" : ""));
  return lastSearch_.exchange(like) == like;
}

void DeviceTeam::enqueueOnEach(
    bool warm, const Progress &progress,
    const std::function<void(int number, const Progress &progress)> &work) {
  if (!warm || count() > kServedInTurn)
    return team_.onEach(count(), progress, work);
  for (int number = 0; number < count(); ++number)
    team_.onEach(
        1, progress, [&](int, const Progress &told) { work(number, told); },
        [&](int) { return number; });
}

void DeviceTeam::rankTogether(const Call &call, const Shards *shards, Lanes &lanes, uint32_t probes,
                              bool warm) {
  const int64_t queries = call.queries.rows;
  const auto rowBytes = size_t(bytesOfRow(call.queries.element, call.queries.dims));
  enqueueOnEach(warm, {}, [&](int number, const Progress &) {
    Lane &lane = *lanes.of[size_t(number)];
    const ContextScope scope(*lane.context);
    const int64_t begin = queries * number / count(), end = queries * (number + 1) / count();
    MatrixView part = call.queries;
    part.data = pointer<const void>(call.queriesOf(number, lane) + size_t(begin) * rowBytes);
    part.rows = end - begin;
    const uint64_t at = uint64_t(begin) * probes * sizeof(uint32_t);
    devices_[size_t(number)]->rankLists(rowsOf(call, shards, number), call.metric, part, probes,
                                        lane.lists.at() + at, lane.stream.get());
    for (int other = 0; other < count(); ++other)
      if (other != number)
        copyBetween(*lanes.of[size_t(other)]->context, lanes.of[size_t(other)]->lists.at() + at,
                    *lane.context, lane.lists.at() + at,
                    size_t(part.rows) * probes * sizeof(uint32_t), lane.stream.get());
    lane.ranked.record(lane.stream.get());
  });
}

void DeviceTeam::searchTogether(const Call &call, const Shards *shards, SearchStats *stats) {
  const Context &home = *contexts_.front();
  const bool together = isTogether(call.index, call.queries, call.params), warm = isWarm(call);
  if (!shards && !together) // The last part of a batch may be small.
    return first().searchDevice(call.index, call.metric, call.captures, call.queries, call.k,
                                call.params, call.ids, call.distances, call.stream, stats);
  const uint32_t probes = probesOf(call.index, call.params.candidates);
  const size_t ids = call.results() * sizeof(int64_t), distances = call.results() * sizeof(float);
  const auto lease = lanes_.acquire();
  Lanes &lanes = **lease;
  lanes.reserve({.queries = call.queryBytes(),
                 .lists = together ? size_t(call.queries.rows) * probes * sizeof(uint32_t) : 0,
                 .ids = ids,
                 .distances = distances,
                 .mergedIds = ids * size_t(count()),
                 .mergedDistances = distances * size_t(count())});
  lanes.ended.holdBack(call.stream);
  lanes.begun.record(call.stream);
  for (int number = count() - 1; number >= 0; --number) {
    Lane &lane = *lanes.of[size_t(number)];
    const ContextScope scope(*lane.context);
    lanes.begun.holdBack(lane.stream.get());
    if (number != 0)
      copyBetween(*lane.context, lane.queries.at(), home, addressOf(call.queries.data),
                  call.queryBytes(), lane.stream.get());
  }
  if (together)
    rankTogether(call, shards, lanes, probes, warm);
  std::vector<SearchStats> costs(devices_.size());
  enqueueOnEach(warm, call.params.progress, [&](int number, const Progress &progress) {
    Lane &lane = *lanes.of[size_t(number)];
    const ContextScope scope(*lane.context);
    const CUstream on = lane.stream.get();
    if (together)
      for (const auto &other : lanes.of)
        other->ranked.holdBack(on);
    if (!shards)
      devices_[size_t(number)]->dealLists(
          call.index, lane.lists.at(), uint64_t(call.queries.rows) * probes, number, count(), on);
    const uint64_t mergedIds = lanes.mergedIds.at() + size_t(number) * ids,
                   mergedDistances = lanes.mergedDistances.at() + size_t(number) * distances,
                   toIds = number == 0 ? mergedIds : lane.ids.at(),
                   toDistances = number == 0 ? mergedDistances : lane.distances.at();
    MatrixView queries = call.queries;
    queries.data = pointer<const void>(call.queriesOf(number, lane));
    SearchParams params = call.params;
    params.progress = progress;
    devices_[size_t(number)]->searchRanked(
        rowsOf(call, shards, number), call.metric, call.captures, queries, call.k, params,
        together ? lane.lists.at() : 0, shards ? 1 : count(), pointer<int64_t>(toIds),
        pointer<float>(toDistances), on, stats ? &costs[size_t(number)] : nullptr);
    if (number != 0) {
      copyBetween(home, mergedIds, *lane.context, toIds, ids, on);
      copyBetween(home, mergedDistances, *lane.context, toDistances, distances, on);
    }
    lane.done.record(on);
  });
  for (const auto &lane : lanes.of)
    lane->done.holdBack(call.stream);
  first().mergeParts({pointer<const int64_t>(lanes.mergedIds.at()),
                      pointer<const float>(lanes.mergedDistances.at()),
                      count(),
                      call.queries.rows,
                      call.k,
                      call.metric.artifact.manifest.order,
                      {}},
                     call.k, call.ids, call.distances, call.stream);
  lanes.ended.record(call.stream);
  lease->finish();
  if (stats && shards)
    addShards(*stats, *shards, costs, 1);
  for (size_t i = 0; stats && !shards && i < costs.size(); ++i)
    addBeside(*stats, costs[i], 1);
}

void DeviceTeam::search(const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries, int k,
                        const SearchParams &params, int64_t *ids, float *distances,
                        SearchStats *stats) {
  const auto shards = isTogether(index, queries, params) ? shardsOf(index) : nullptr;
  if (!isTogether(index, queries, params) || !hasEach(shards.get(), k))
    return team_.search(index, metric, captures, queries, k, params, ids, distances, stats);
  checkSearch(index, metric, queries, k, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  if (stats)
    *stats = {};
  const ContextScope scope(*contexts_.front());
  std::unique_ptr<Stage> stage = stages_.take();
  if (!stage)
    stage = std::make_unique<Stage>(contexts_.front());
  const Call call{index, metric, captures, queries, k, params, ids, distances, stage->stream.get()};
  const int64_t most = std::min(queriesMerged(count(), k), kStagedQueries);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t begin = 0; begin < queries.rows; begin += most) {
    report(params.progress, "search", double(begin) / double(queries.rows));
    searchStaged(call, shards.get(), *stage, {begin, std::min(most, queries.rows - begin)}, stats);
  }
  report(params.progress, "search", 1);
  stages_.give(std::move(stage));
  if (!stats)
    return;
  for (const auto &device : devices_)
    device->takePairs(metric, *stats);
  stats->searchMs = std::max(0.0, msSince(start) - stats->linkMs - stats->uploadMs);
}

void DeviceTeam::searchStaged(const Call &call, const Shards *shards, Stage &stage,
                              const QueryPart &part, SearchStats *stats) {
  MatrixView queries = partOf(call.queries, part);
  const auto queryBytes = size_t(part.count) * size_t(bytesOfRow(queries.element, queries.dims));
  const size_t results = size_t(part.count) * size_t(call.k), idBytes = results * sizeof(int64_t),
               bytes = idBytes + results * sizeof(float);
  stage.reserve(bytes + queryBytes);
  std::byte *const here = stage.pinned->host();
  const uint64_t there = stage.device.at();
  const CUstream on = stage.stream.get();
  const MatrixView given = queries;
  copyBytes(here + bytes, given.data, queryBytes);
  ANNUDF_CUDA(cuMemcpyHtoDAsync, there + bytes, here + bytes, queryBytes, on);
  queries.data = pointer<const void>(there + bytes);
  const SearchParams params = partWith(call.params, part, call.queries.rows, {});
  SearchStats cost;
  try {
    searchTogether({call.index, call.metric, call.captures, queries, call.k, params,
                    pointer<int64_t>(there), pointer<float>(there + idBytes), on},
                   shards, stats ? &cost : nullptr);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, here, there, bytes, on);
    // While the devices work.
    checkFinite({here + bytes, part.count, given.dims, given.element}, "queries", 0,
                call.index.missingValues() ? NaNs::Missing : NaNs::Refused, part.first);
  } catch (...) { // Copies may still use the stage, which ends now.
    (void)Driver::get().cuStreamSynchronize(on);
    throw;
  }
  ANNUDF_CUDA(cuStreamSynchronize, on);
  copyBytes(call.ids + part.first * call.k, here, idBytes);
  copyBytes(call.distances + part.first * call.k, here + idBytes, bytes - idBytes);
  if (stats)
    addPart(*stats, cost, double(part.count) / double(call.queries.rows));
}

} // namespace annudf::runtime::cuda
