//===- DeviceBackend.cpp - Searching on a GPU -----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace annudf::runtime {
namespace cuda {

std::shared_ptr<DeviceIndex> DeviceBackend::upload(const RowStore &index, const Progress &progress,
                                                   SearchStats *stats) {
  for (;;) {
    bool made = false;
    try {
      auto copy = copies_.get(
          index, context_->device(),
          [&] {
            return std::make_shared<DeviceIndex>(index, context_, kernels_.module, pieces_,
                                                 progress);
          },
          made);
      if (stats)
        stats->uploadMs = made ? copy->uploadMs() : 0;
      return copy;
    } catch (const Error &error) {
      // Where another search was to make it and was stopped, this one goes on.
      if (made || error.kind() != ErrorKind::Interrupted)
        throw;
    }
  }
}

Index DeviceBackend::build(const IndexParams &params, const MatrixView &base, void *stream,
                           const Progress &progress, BuildStats *stats) {
  BuildStats local;
  BuiltIndex built = builder_.build(params, base, stream, progress, stats ? *stats : local);
  keep(built.index, built.copy);
  return std::move(built.index);
}

Index DeviceBackend::buildFromHost(const IndexParams &params, const MatrixView &base,
                                   const Progress &progress, BuildStats *stats) {
  BuildStats local;
  BuiltIndex built =
      builder_.buildFromHost(params, base, pieces_, progress, stats ? *stats : local);
  keep(built.index, built.copy);
  return std::move(built.index);
}

Index DeviceBackend::storeRows(const MatrixView &rows, const RowsPlace &at,
                               const RowsParams &params, BuildStats *stats) {
  BuildStats local;
  BuildStats &cost = stats ? *stats : local;
  BuiltIndex built = at.onDevice ? builder_.rows(rows, params, at.stream, cost)
                                 : builder_.rowsFromHost(rows, params, pieces_, cost);
  keep(built.index, built.copy);
  return std::move(built.index);
}

void DeviceBackend::keep(const RowStore &index, const std::shared_ptr<DeviceIndex> &copy) {
  bool made = false;
  if (copy)
    (void)copies_.get(index, context_->device(), [&] { return copy; }, made);
}

void DeviceBackend::extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
                           const Progress &progress) {
  keep(index, builder_.extend(index, rows, ids, stream, progress,
                              [&] { return upload(index, progress); }));
}

void DeviceBackend::extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids,
                                   const Progress &progress) {
  keep(index, builder_.extendFromHost(index, rows, ids, pieces_, progress,
                                      [&] { return upload(index, progress); }));
}

int64_t DeviceBackend::remove(Index &index, std::span<const int64_t> ids,
                              const Progress &progress) {
  const IndexBuilder::Removed removed =
      builder_.remove(index, ids, progress, [&] { return upload(index, progress); });
  keep(index, removed.copy);
  return removed.rows;
}

void DeviceBackend::run(const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries,
                        const Wanted &wanted, const SearchParams &params, SearchStats *stats) {
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const StoreCaptures ofStore(index, metric.artifact.manifest, captures);
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  ContextScope scope(*context_);
  Ready ready = prepare(index, metric, ofStore, queries, wanted, params, report);

  const auto start = std::chrono::steady_clock::now();
  const auto lease = pool_.acquire(true, nullptr);
  NanCounter &nan = (*lease)->nan();
  if (!metric.artifact.manifest.isFilter()) // What it leaves out is NaN.
    ready.pipeline.nan = nan.address();
  const CUstream stream = lease->stream();
  const uint64_t total = static_cast<uint64_t>(queries.rows), batch = ready.pipeline.batch();
  if (stats)
    tell(ready.pipeline.plan, params, report);
  const auto rowBytes = static_cast<size_t>(bytesOfRow(queries.element, queries.dims));
  const size_t row = static_cast<size_t>(wanted.columns);
  // Staging holds ids, distances, then queries, so that each is aligned.
  const size_t idBytes = wanted.every() ? 0 : batch * row * sizeof(int64_t),
               distanceBytes = batch * row * sizeof(float);
  Buffer &device = (*lease)->staging(idBytes + distanceBytes + batch * rowBytes);
  Buffer &pinned = (*lease)->pinned(device.size());
  const uint64_t idsAt = device.device(), distancesAt = idsAt + idBytes,
                 queriesAt = distancesAt + distanceBytes;
  std::optional<StageClock> clock;
  if (params.timeStages)
    clock.emplace(context_);
  // What breaks a search off here leaves the workspace in order: it need not be made anew.
  auto orStop = [&](auto work) {
    try {
      work();
    } catch (const Error &) {
      ANNUDF_CUDA(cuStreamSynchronize, stream);
      SearchStats lost;
      nan.takeAll(lost);
      lease->finish();
      throw;
    }
  };
  StreamLauncher launcher(*context_, stream);
  for (uint64_t first = 0; first < total; first += batch) {
    orStop([&] { runtime::report(params.progress, "search", double(first) / double(total)); });
    const uint64_t count = std::min(batch, total - first);
    std::byte *stagedQueries = pinned.host() + idBytes + distanceBytes;
    std::memcpy(stagedQueries, static_cast<const std::byte *>(queries.data) + first * rowBytes,
                count * rowBytes);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, queriesAt, stagedQueries, count * rowBytes, stream);
    if (clock)
      clock->begin(stream);
    ready.pipeline.enqueue(ready.kernels, **lease, launcher, queriesAt, count,
                           params.firstQuery + static_cast<int64_t>(first), idsAt, distancesAt,
                           clock ? &*clock : nullptr);
    nan.enqueued(ready.pipeline.pairsOf(count));
    // One copy: distances follow the ids of a full batch.
    ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned.host(), idsAt, idBytes + count * row * sizeof(float),
                stream);
    // While the device works, and in the copy that the cache still holds.
    orStop([&] {
      checkFinite({stagedQueries, int64_t(count), queries.dims, queries.element}, "queries", 0,
                  index.missingValues() ? NaNs::Missing : NaNs::Refused, int64_t(first));
    });
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    if (!wanted.every())
      std::memcpy(wanted.ids + first * row, pinned.host(), count * row * sizeof(int64_t));
    std::memcpy(wanted.distances + first * row, pinned.host() + idBytes,
                count * row * sizeof(float));
  }
  report.workspaceBytes = (*lease)->arenaBytes();
  nan.takeAll(report);
  lease->finish();
  if (clock)
    clock->report(total, report), addStage(report.stages, "select", ready.gatherMs);
  runtime::report(params.progress, "search", 1);
  report.searchMs = msSince(start) + ready.gatherMs;
}

void DeviceBackend::runDevice(const RowStore &index, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries,
                              const Wanted &wanted, const SearchParams &params, void *stream,
                              SearchStats *stats) {
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const StoreCaptures ofStore(index, metric.artifact.manifest, captures);
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  const uint64_t data = reinterpret_cast<uint64_t>(queries.data);
  const uint64_t total = static_cast<uint64_t>(queries.rows),
                 results = total * uint64_t(wanted.columns);
  const auto rowBytes = static_cast<uint64_t>(bytesOfRow(queries.element, queries.dims));
  ContextScope scope(*context_);
  checkDeviceMemory(*context_, data, total * rowBytes, alignmentOf(queries.element), "queries");
  if (!wanted.every())
    checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(wanted.ids), results * sizeof(int64_t),
                      sizeof(int64_t), "ids");
  checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(wanted.distances),
                    results * sizeof(float), sizeof(float), "distances");
  const CUstream on = checkStream(*context_, stream);
  Ready ready = prepare(index, metric, ofStore, queries, wanted, params, report);
  if (wanted.ranked && ready.pipeline.isRanked) // The table begins with the first query.
    ready.pipeline.isRanked = false, ready.pipeline.hasSpareLists = wanted.dealt > 1,
    ready.pipeline.given = wanted.ranked - static_cast<uint64_t>(params.firstQuery) *
                                               ready.pipeline.nProbes * sizeof(uint32_t);
  const auto lease = pool_.acquire(false, on);
  NanCounter *nan = nullptr; // Stays null for all distances: nobody counts NaN there.
  const bool counts = !wanted.every() && params.countPairs;
  if (counts && params.timeStages) {
    nan = &(*lease)->nan();
  } else if (counts) { // Not waited for: it tells of earlier ones.
    const std::shared_ptr<NanCounter> shared = nans_.of(metric.digest);
    lease->keep(shared);
    nan = shared.get();
    if (stats)
      nan->take(report);
  }
  ready.pipeline.nan = nan ? nan->address() : 0;
  lease->keep(ready.index);
  for (const auto &kernel : ready.kernels.kernels)
    lease->keep(kernel);
  lease->keep(ready.captures);
  if (ready.filter)
    lease->keep(ready.filter);
  if (ready.given)
    lease->keep(ready.given);
  if (ready.pipeline.bound)
    lease->keep(ready.pipeline.bound);
  if (ready.pipeline.predicate)
    lease->keep(ready.pipeline.predicate);
  const uint64_t batch = ready.pipeline.batch();
  if (stats)
    tell(ready.pipeline.plan, params, report);
  std::optional<StageClock> clock;
  if (params.timeStages)
    clock.emplace(context_);
  StreamLauncher launcher(*context_, lease->stream());
  for (uint64_t first = 0; first < total; first += batch) {
    if (clock)
      clock->begin(lease->stream());
    ready.pipeline.enqueue(
        ready.kernels, **lease, launcher, data + first * rowBytes, std::min(batch, total - first),
        params.firstQuery + static_cast<int64_t>(first),
        wanted.every() ? 0 : reinterpret_cast<uint64_t>(wanted.ids + first * wanted.columns),
        reinterpret_cast<uint64_t>(wanted.distances + first * wanted.columns),
        clock ? &*clock : nullptr);
    if (nan)
      nan->enqueued(ready.pipeline.pairsOf(std::min(batch, total - first)) / wanted.dealt);
  }
  report.workspaceBytes = (*lease)->arenaBytes();
  if (nan && params.timeStages) // Which waits for each batch.
    nan->takeAll(report);
  lease->finish();
  if (clock)
    clock->report(total, report);
  if (clock && ready.gatherMs > 0)
    addStage(report.stages, "select", ready.gatherMs);
}

namespace {

constexpr uint64_t kAnyNumber = std::numeric_limits<uint64_t>::max();

/// Queries at once where results of so many columns are staged on both sides: many of them take
/// more room than the scan does.
uint64_t staged(int64_t columns) {
  constexpr uint64_t kResults = uint64_t(1) << 25;
  return std::max<uint64_t>(1, kResults / static_cast<uint64_t>(columns));
}

} // namespace

void DeviceBackend::checkMemory(const void *address, uint64_t bytes, size_t alignment,
                                const char *what) {
  ContextScope scope(*context_);
  checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(address), bytes, alignment, what);
}

std::vector<std::byte> DeviceBackend::read(const void *address, uint64_t bytes, size_t alignment,
                                           void *stream, const char *what) {
  ContextScope scope(*context_);
  const uint64_t from = reinterpret_cast<uint64_t>(address);
  if (bytes == 0)
    return {};
  checkDeviceMemory(*context_, from, bytes, alignment, what);
  const CUstream on = checkStream(*context_, stream);
  std::vector<std::byte> copy(bytes);
  ANNUDF_CUDA(cuMemcpyDtoHAsync, copy.data(), from, bytes, on);
  ANNUDF_CUDA(cuStreamSynchronize, on);
  return copy;
}

void DeviceBackend::search(const RowStore &index, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries, int k,
                           const SearchParams &params, int64_t *ids, float *distances,
                           SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  run(index, metric, captures, queries, {k, ids, distances, staged(k)}, params, stats);
}

void DeviceBackend::searchDevice(const RowStore &index, const MetricView &metric,
                                 const BoundCaptures &captures, const MatrixView &queries, int k,
                                 const SearchParams &params, int64_t *ids, float *distances,
                                 void *stream, SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  runDevice(index, metric, captures, queries, {k, ids, distances, kAnyNumber}, params, stream,
            stats);
}

void DeviceBackend::searchRanked(const RowStore &index, const MetricView &metric,
                                 const BoundCaptures &captures, const MatrixView &queries, int k,
                                 const SearchParams &params, uint64_t lists, int dealt,
                                 int64_t *ids, float *distances, CUstream stream,
                                 SearchStats *stats) {
  Wanted wanted{k, ids, distances, kAnyNumber};
  wanted.ranked = lists, wanted.dealt = dealt;
  runDevice(index, metric, captures, queries, wanted, params, stream, stats);
}

void DeviceBackend::dealLists(const RowStore &index, uint64_t lists, uint64_t count, int number,
                              int devices, CUstream stream) {
  const ContextScope scope(*context_);
  constexpr uint64_t kThreads = 256;
  const auto own = static_cast<uint32_t>(number), of = static_cast<uint32_t>(devices);
  StreamLauncher(*context_, stream)
      .first(kernels_.dealProbes, {(count + kThreads - 1) / kThreads}, kThreads, 0, lists, count,
             index.nLists(), own, of);
}

void DeviceBackend::rankLists(const RowStore &index, const MetricView &metric,
                              const MatrixView &queries, uint32_t probes, uint64_t lists,
                              CUstream stream) {
  ContextScope scope(*context_);
  const auto copy = upload(index, {});
  checkFits(*copy, *context_);
  const Manifest &manifest = metric.artifact.manifest;
  const auto total = static_cast<uint64_t>(queries.rows);
  const auto rowBytes = static_cast<uint64_t>(bytesOfRow(queries.element, queries.dims));
  const BatchShape all = shapeOfRanking(*copy, total, probes);
  const uint64_t batch = total <= kMostQueries && workspaceBytes(all) <= kUsualWorkspace
                             ? total
                             : batchQueries(all, total, pool_.limit());
  const auto lease = pool_.acquire(false, stream);
  lease->keep(copy);
  StreamLauncher launcher(*context_, lease->stream());
  for (uint64_t first = 0; first < total; first += batch) {
    const uint64_t count = std::min(batch, total - first);
    const BatchShape shape = shapeOfRanking(*copy, count, probes);
    annudf_scan_args args = {};
    args.index = copy->args();
    args.work = (*lease)->prepare(shape);
    args.queries = queriesAt(reinterpret_cast<uint64_t>(queries.data) + first * rowBytes, count,
                             queries.element, args.index.dims, int64_t(first));
    enqueueRanking(kernels_, *copy, {manifest.coarse, manifest.coarseOrder}, args, shape, launcher,
                   nullptr);
    ANNUDF_CUDA(cuMemcpyAsync, lists + first * probes * sizeof(uint32_t), args.work.probes,
                count * probes * sizeof(uint32_t), lease->stream());
  }
  lease->finish();
}

std::unique_ptr<PreparedSearch>
DeviceBackend::prepareDevice(const RowStore &index, const MetricView &metric,
                             const BoundCaptures &captures, const MatrixView &queries, int k,
                             const SearchParams &params, void *stream, SearchStats *stats) {
  MatrixView shape = queries;
  shape.data = &shape; // Those of the runs come later: not looked at.
  checkSearch(index, metric, shape, k, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const StoreCaptures ofStore(index, metric.artifact.manifest, captures);
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  const ContextScope scope(*context_);
  const CUstream on = checkStream(*context_, stream);
  int64_t ids = 0;            // Not those of every distance.
  SearchParams best = params; // What runs again and again is waited for.
  best.waitForLinks = true;
  Ready ready =
      prepare(index, metric, ofStore, queries, {k, &ids, nullptr, kAnyNumber}, best, report);
  if (stats)
    tell(ready.pipeline.plan, params, report);
  std::vector<std::shared_ptr<const void>> kept = {ready.index, ready.captures, ready.filter,
                                                   ready.given};
  return std::make_unique<GraphSearch>(
      context_, PreparedPipeline{std::move(ready.pipeline), std::move(ready.kernels),
                                 std::move(kept), static_cast<uint64_t>(queries.rows),
                                 params.firstQuery, on, params.countPairs});
}

void DeviceBackend::distances(const RowStore &index, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries,
                              const Progress &progress, float *distances, SearchStats *stats,
                              int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  run(index, metric, captures, queries, {index.size(), nullptr, distances, staged(index.size())},
      {.progress = progress, .firstQuery = firstQuery}, stats);
}

void DeviceBackend::distancesDevice(const RowStore &index, const MetricView &metric,
                                    const BoundCaptures &captures, const MatrixView &queries,
                                    float *distances, void *stream, SearchStats *stats) {
  checkDistances(index, metric, queries);
  runDevice(index, metric, captures, queries, {index.size(), nullptr, distances, kAnyNumber}, {},
            stream, stats);
}

} // namespace cuda

std::unique_ptr<CudaBackend> makeCudaDeviceBackend(int device) {
  return std::make_unique<cuda::DeviceBackend>(device);
}

std::unique_ptr<Backend> makeCudaBackend(int device) { return makeCudaDeviceBackend(device); }

} // namespace annudf::runtime
