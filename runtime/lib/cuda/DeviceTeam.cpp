//===- DeviceTeam.cpp - Several devices as one backend --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTeam.h"
#include "TeamCall.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace annudf::runtime {
namespace cuda {
namespace {

std::vector<std::shared_ptr<const Context>> contextsOf(const DeviceTeam::Devices &devices) {
  std::vector<std::shared_ptr<const Context>> contexts;
  for (const auto &device : devices)
    contexts.push_back(std::make_shared<const Context>(device->device()));
  return contexts;
}

} // namespace

DeviceTeam::DeviceTeam(Devices devices, TeamMode mode)
    : devices_(std::move(devices)), contexts_(contextsOf(devices_)),
      team_({devices_.begin(), devices_.end()}, mode), lanes_(contexts_) {
  connectPeers(contexts_);
}

int DeviceTeam::arch() const {
  int oldest = first().arch();
  for (const auto &device : devices_)
    oldest = std::min(oldest, device->arch());
  return oldest;
}

Index DeviceTeam::settled(Index index) const {
  if (isSharded())
    index.bringToHost(); // Shards are made of lists there, and need the room.
  return index;
}

Index DeviceTeam::storeRows(const MatrixView &rows, const RowsPlace &at, const RowsParams &params,
                            BuildStats *stats) {
  if (isSharded() && !at.onDevice)
    return Index::ofOneList(rows, params.missingValues, params.threads, params.ids,
                            params.progress);
  return settled(first().storeRows(rows, at, params, stats));
}

std::unique_ptr<PreparedSearch>
DeviceTeam::prepareDevice(const RowStore &index, const MetricView &metric,
                          const BoundCaptures &captures, const MatrixView &queries, int k,
                          const SearchParams &params, void *stream, SearchStats *stats) {
  if (count() > 1)
    throw Error(ErrorKind::Usage, "a prepared search runs on one device, the backend is " +
                                      describe() + "; search without preparing, or on one device");
  return first().prepareDevice(index, metric, captures, queries, k, params, stream, stats);
}

void DeviceTeam::distancesDevice(const RowStore &index, const MetricView &metric,
                                 const BoundCaptures &captures, const MatrixView &queries,
                                 float *distances, void *stream, SearchStats *stats) {
  if (!isSharded())
    return first().distancesDevice(index, metric, captures, queries, distances, stream, stats);
  checkDistances(index, metric, queries);
  const size_t bytes = size_t(queries.rows) * size_t(index.size()) * sizeof(float);
  checkMemory(distances, bytes, sizeof(float), "distances");
  std::vector<std::byte> host;
  const MatrixView here = onHost(queries, stream, host);
  std::vector<float> found(bytes / sizeof(float));
  team_.distances(index, metric, captures, here, {}, found.data(), stats, 0);
  copy(addressOf(distances), addressOf(found.data()), bytes, stream);
  synchronize(stream);
}

void DeviceTeam::searchDevice(const RowStore &index, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries, int k,
                              const SearchParams &params, int64_t *ids, float *distances,
                              void *stream, SearchStats *stats) {
  if (count() == 1 || index.holdsCandidates())
    return first().searchDevice(index, metric, captures, queries, k, params, ids, distances, stream,
                                stats);
  checkSearch(index, metric, queries, k, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const ContextScope scope(*contexts_.front());
  Call call{index,   metric,    captures,
            queries, k,         params,
            ids,     distances, checkStream(*contexts_.front(), stream)};
  checkMemory(queries.data, call.queryBytes(), alignmentOf(queries.element), "queries");
  checkMemory(ids, call.results() * sizeof(int64_t), sizeof(int64_t), "ids");
  checkMemory(distances, call.results() * sizeof(float), sizeof(float), "distances");
  if (stats)
    *stats = {};
  const auto shards = shardsOf(index);
  if (!shards && !isTogether(index, queries, params))
    return searchReplicas(call, stats);
  if (!hasEach(shards.get(), k)) // Results of one length are merged on the device.
    return searchByHost(call, stats);
  const int64_t most = queriesMerged(count(), k);
  for (int64_t begin = 0; begin < queries.rows; begin += most) {
    const QueryPart part = {begin, std::min(most, queries.rows - begin)};
    const MatrixView some = partOf(queries, part);
    const SearchParams ofPart = partWith(params, part, queries.rows, params.progress);
    SearchStats cost;
    searchTogether({index, metric, captures, some, k, ofPart, ids + begin * k,
                    distances + begin * k, call.stream},
                   shards.get(), stats ? &cost : nullptr);
    if (stats)
      addPart(*stats, cost, double(part.count) / double(queries.rows));
  }
}

std::shared_ptr<const Shards> DeviceTeam::shardsOf(const RowStore &index) const {
  return isSharded() ? Shards::of(index, count()) : nullptr;
}

bool DeviceTeam::hasEach(const Shards *shards, int k) const {
  for (int number = 0; shards && number < count(); ++number)
    if ((*shards)[number].size() < k)
      return false;
  return true;
}

MatrixView DeviceTeam::onHost(const MatrixView &queries, void *stream,
                              std::vector<std::byte> &memory) {
  memory = read(queries.data,
                uint64_t(queries.rows) * uint64_t(bytesOfRow(queries.element, queries.dims)),
                alignmentOf(queries.element), stream, "queries");
  MatrixView here = queries;
  here.data = memory.data();
  return here;
}

void DeviceTeam::searchByHost(const Call &call, SearchStats *stats) {
  std::vector<std::byte> memory;
  const MatrixView queries = onHost(call.queries, call.stream, memory);
  std::vector<int64_t> ids(call.results());
  std::vector<float> distances(call.results());
  team_.search(call.index, call.metric, call.captures, queries, call.k, call.params, ids.data(),
               distances.data(), stats);
  give(ids, distances, call.ids, call.distances, call.stream);
}

void DeviceTeam::give(const std::vector<int64_t> &ids, const std::vector<float> &distances,
                      int64_t *toIds, float *toDistances, void *stream) {
  copy(addressOf(toIds), addressOf(ids.data()), ids.size() * sizeof(int64_t), stream);
  copy(addressOf(toDistances), addressOf(distances.data()), distances.size() * sizeof(float),
       stream);
  synchronize(stream);
}

void DeviceTeam::refineOwn(const RowStore &index, const CandidateRows &candidates,
                           const RowsPlace &candidatesAt, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries,
                           const RowsPlace &queriesAt, int64_t k, const SearchParams &params,
                           int64_t *ids, float *distances, SearchStats *stats) {
  if (!isSharded())
    return first().refineOwn(index, candidates, candidatesAt, metric, captures, queries, queriesAt,
                             k, params, ids, distances, stats);
  checkRefine(index, queries, candidates.queries, candidates.columns, k);
  std::vector<std::byte> idMemory, queryMemory;
  CandidateRows here = candidates;
  if (candidatesAt.onDevice) {
    idMemory =
        read(candidates.ids, uint64_t(candidates.queries * candidates.columns) * sizeof(int64_t),
             sizeof(int64_t), candidatesAt.stream, "candidates");
    here.ids = reinterpret_cast<const int64_t *>(idMemory.data());
  }
  if (!queriesAt.onDevice)
    return refineShards(index, here, metric, captures, queries, int(k), params, ids, distances,
                        stats);
  const auto results = size_t(queries.rows) * size_t(k);
  checkMemory(ids, results * sizeof(int64_t), sizeof(int64_t), "ids");
  checkMemory(distances, results * sizeof(float), sizeof(float), "distances");
  const MatrixView hostQueries = onHost(queries, queriesAt.stream, queryMemory);
  std::vector<int64_t> foundIds(results);
  std::vector<float> foundDistances(results);
  refineShards(index, here, metric, captures, hostQueries, int(k), params, foundIds.data(),
               foundDistances.data(), stats);
  give(foundIds, foundDistances, ids, distances, queriesAt.stream);
}

void DeviceTeam::refineShards(const RowStore &index, const CandidateRows &candidates,
                              const MetricView &metric, const BoundCaptures &captures,
                              const MatrixView &queries, int k, const SearchParams &params,
                              int64_t *ids, float *distances, SearchStats *stats) {
  const auto shards = Shards::of(index, count());
  const std::vector<uint32_t> slots = slotsOfCandidates(candidates, *SlotsOfIds::of(index));
  std::vector<SearchStats> costs(devices_.size());
  const auto refineShard = [&](int number, int found, const Progress &progress, int64_t *toIds,
                               float *toDistances) {
    std::vector<int64_t> own(slots.size(), -1); // Rows of other shards are no candidates.
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i] != SlotsOfIds::kNone && shards->ofSlot(slots[i]) == number)
        own[i] = candidates.ids[i];
    SearchParams some = params;
    some.progress = progress;
    devices_[size_t(number)]->refineOwn((*shards)[number],
                                        {own.data(), candidates.queries, candidates.columns}, {},
                                        metric, captures, queries, {}, found, some, toIds,
                                        toDistances, stats ? &costs[size_t(number)] : nullptr);
  };
  team_.mergeShards(*shards, queries.rows, k, metric.artifact.manifest.order, params.progress,
                    refineShard, ids, distances);
  if (!stats)
    return;
  *stats = {};
  addShards(*stats, *shards, costs, 1);
}

void DeviceTeam::searchReplicas(const Call &call, SearchStats *stats) {
  const std::vector<SearchTeam::Share> shares = team_.split(call.queries.rows);
  if (shares.size() == 1) // The arrays are there.
    return first().searchDevice(call.index, call.metric, call.captures, call.queries, call.k,
                                call.params, call.ids, call.distances, call.stream, stats);
  const auto most = size_t(std::ranges::max(shares, {}, [](const SearchTeam::Share &share) {
                             return share.part.count;
                           }).part.count);
  const auto lease = lanes_.acquire();
  Lanes &lanes = **lease;
  lanes.reserve({.queries = most * size_t(bytesOfRow(call.queries.element, call.queries.dims)),
                 .ids = most * size_t(call.k) * sizeof(int64_t),
                 .distances = most * size_t(call.k) * sizeof(float)});
  lanes.ended.holdBack(call.stream);
  lanes.begun.record(call.stream);
  std::vector<SearchStats> costs(shares.size());
  const Context &home = *contexts_.front();
  const auto searchShare = [&](int i, const Progress &progress) {
    const auto &[number, part] = shares[size_t(i)];
    const SearchParams params = partWith(call.params, part, call.queries.rows, progress);
    MatrixView queries = partOf(call.queries, part);
    int64_t *const ids = call.ids + part.first * call.k;
    float *const distances = call.distances + part.first * call.k;
    SearchStats *const cost = stats ? &costs[size_t(i)] : nullptr;
    Lane &lane = *lanes.of[size_t(number)];
    const ContextScope scope(*lane.context);
    // Never the caller's: the default stream of a thread is another one here.
    const CUstream on = lane.stream.get();
    const size_t results = size_t(part.count) * size_t(call.k);
    lanes.begun.holdBack(on);
    if (number != 0) {
      copyBetween(*lane.context, lane.queries.at(), home, addressOf(queries.data),
                  size_t(part.count) * size_t(bytesOfRow(queries.element, queries.dims)), on);
      queries.data = pointer<const void>(lane.queries.at());
    }
    devices_[size_t(number)]->searchDevice(
        call.index, call.metric, call.captures, queries, call.k, params,
        number == 0 ? ids : pointer<int64_t>(lane.ids.at()),
        number == 0 ? distances : pointer<float>(lane.distances.at()), on, cost);
    if (number != 0) {
      copyBetween(home, addressOf(ids), *lane.context, lane.ids.at(), results * sizeof(int64_t),
                  on);
      copyBetween(home, addressOf(distances), *lane.context, lane.distances.at(),
                  results * sizeof(float), on);
    }
    lane.done.record(on);
  };
  team_.onEach(int(shares.size()), call.params.progress, searchShare,
               [&](int i) { return shares[size_t(i)].member; });
  for (const SearchTeam::Share &share : shares)
    lanes.of[size_t(share.member)]->done.holdBack(call.stream);
  lanes.ended.record(call.stream);
  lease->finish();
  for (size_t i = 0; stats && i < shares.size(); ++i)
    addBeside(*stats, costs[i], double(shares[i].part.count) / double(call.queries.rows));
}

} // namespace cuda

std::unique_ptr<CudaBackend> makeCudaTeamBackend(std::span<const int> devices, TeamMode mode) {
  if (devices.empty())
    throw Error(ErrorKind::Usage, "devices: there are 0; give at least one");
  cuda::DeviceTeam::Devices made;
  for (const int device : devices)
    made.push_back(std::make_shared<cuda::DeviceBackend>(device));
  return std::make_unique<cuda::DeviceTeam>(std::move(made), mode);
}

} // namespace annudf::runtime
