//===- SearchRadius.cpp - Radius search on a GPU --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last kernel of a batch appends results to pinned memory, while the others still scan. Where
// they are more than there is room for, it has counted them, and runs again with room enough.
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include "annudf/runtime/engine/Radius.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace annudf::runtime::cuda {

/// The batches of a search, one after the other.
class DeviceBackend::RadiusRun {
public:
  /// \param most  results of all batches.
  RadiusRun(Ready &ready, WorkspacePool::Lease &lease, std::shared_ptr<const Context> context,
            int64_t most, StageClock *clock)
      : ready_(ready), lease_(lease), context_(std::move(context)),
        launcher_(*context_, lease.stream()), most_(most), clock_(clock) {}

  /// Finds the results of a batch of queries.
  /// \param queries  in host memory. \param base  number of the first.
  /// \param checkQueries  called while the device works.
  template <class Check>
  void find(const std::byte *queries, uint64_t queryBytes, uint64_t count, int64_t base,
            Check checkQueries) {
    const CUstream stream = lease_.stream();
    batch_ = {count, base, aligned(sizeof(annudf_within_found) + count * sizeof(uint32_t))};
    Buffer &device = lease_->staging(batch_.queriesAt + queryBytes);
    const annudf_within to = placesFor(0, count, roomFor(count), queryBytes);
    std::memcpy(staged_, queries, queryBytes);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, device.device() + batch_.queriesAt, staged_, queryBytes, stream);
    ANNUDF_CUDA(cuMemsetD8Async, device.device(), 0, batch_.queriesAt, stream);
    if (clock_)
      clock_->begin(stream);
    ready_.pipeline.within = to;
    ready_.pipeline.enqueue(ready_.kernels, *lease_, launcher_, device.device() + batch_.queriesAt,
                            count, base, 0, 0, clock_);
    lease_->nan().enqueued(ready_.pipeline.pairsOf(count));
    readFound();
    checkQueries(staged_); // The copy that the cache still holds.
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    const auto results = static_cast<int64_t>(found_->results);
    if (found_->results > uint64_t(most_ - all_.starts.back()))
      throw TooManyResults(all_.starts.back() + results, most_);
  }

  /// Appends them to those of the batches before.
  void take() {
    const annudf_within &to = *ready_.pipeline.within;
    const bool hasAll = found_->results <= to.room;
    counts_.assign(batch_.queries, 0);
    if (hasAll) {
      for (const annudf_within_segment &segment : segments())
        counts_[segment.query] += segment.count;
    } else {
      ANNUDF_CUDA(cuMemcpyDtoHAsync, counts_.data(), to.counts, counts_.size() * sizeof(uint32_t),
                  lease_.stream());
      ANNUDF_CUDA(cuStreamSynchronize, lease_.stream());
    }
    next_.resize(counts_.size());
    if (all_.starts.size() == 1)
      all_.starts.reserve(1 + counts_.size());
    for (size_t q = 0; q < counts_.size(); ++q) {
      next_[q] = static_cast<uint64_t>(all_.starts.back());
      all_.starts.push_back(all_.starts.back() + counts_[q]);
    }
    all_.ids.resize(static_cast<size_t>(all_.starts.back()));
    all_.distances.resize(all_.ids.size());
    if (hasAll)
      copySegments();
    else
      findAgain();
  }

  WithinRadius takeAll() { return std::move(all_); }

private:
  struct Batch {
    uint64_t queries = 0;
    int64_t base = 0;
    uint64_t queriesAt = 0; ///< Place of the queries on the device, behind what is counted.
  };
  /// Results that are in pinned memory at a time, those of a single query apart.
  static constexpr uint64_t kResults = uint64_t(1) << 22;
  static uint64_t aligned(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

  /// Results that there is room for at first: never more than are asked for.
  uint64_t roomFor(uint64_t count) const {
    constexpr uint64_t kOfQuery = kPlannedResults, kLeast = uint64_t(1) << 14;
    return std::min({std::max(kLeast, std::min(count, kResults) * kOfQuery), kResults,
                     static_cast<uint64_t>(most_ - all_.starts.back())});
  }

  /// Where results of `queries` queries go from `first` on.
  /// \param queryBytes  that are staged behind them.
  annudf_within placesFor(uint64_t first, uint64_t queries, uint64_t room, uint64_t queryBytes) {
    const uint64_t blocks = queries * ready_.pipeline.blocksWithin(batch_.queries);
    const uint64_t segmentsAt = aligned(sizeof(annudf_within_found)),
                   idsAt = segmentsAt + aligned(ANNUDF_WITHIN_SEGMENTS(blocks, room) *
                                                sizeof(annudf_within_segment)),
                   distancesAt = idsAt + aligned(room * sizeof(int64_t)),
                   stagedAt = distancesAt + aligned(room * sizeof(float));
    std::byte *const host = lease_->pinned(stagedAt + queryBytes).host();
    found_ = reinterpret_cast<annudf_within_found *>(host);
    staged_ = host + stagedAt;
    const uint64_t device = lease_->staging(batch_.queriesAt).device();
    annudf_within to = {};
    to.found = device, to.counts = device + sizeof(annudf_within_found);
    to.segments = reinterpret_cast<uint64_t>(host + segmentsAt);
    to.ids = reinterpret_cast<uint64_t>(host + idsAt);
    to.distances = reinterpret_cast<uint64_t>(host + distancesAt);
    to.room = room;
    to.radius = ready_.pipeline.within->radius;
    to.first = static_cast<uint32_t>(first);
    return to;
  }

  void readFound() {
    ANNUDF_CUDA(cuMemcpyDtoHAsync, reinterpret_cast<std::byte *>(found_),
                ready_.pipeline.within->found, sizeof *found_, lease_.stream());
  }

  std::span<const annudf_within_segment> segments() const {
    return {
        reinterpret_cast<const annudf_within_segment *>(ready_.pipeline.within->segments), // NOLINT
        found_->segments};
  }

  /// Copies the results that are in pinned memory to their places; sorts those of queries with
  /// several segments.
  void copySegments() {
    const annudf_within &to = *ready_.pipeline.within;
    const auto *const ids = reinterpret_cast<const int64_t *>(to.ids);           // NOLINT
    const auto *const distances = reinterpret_cast<const float *>(to.distances); // NOLINT
    const std::span<const annudf_within_segment> all = segments();
    std::vector<uint64_t> places(all.size());
    std::vector<uint32_t> unsorted;
    for (size_t s = 0; s < all.size(); ++s) {
      places[s] = next_[all[s].query];
      next_[all[s].query] += all[s].count;
      if (all[s].count != counts_[all[s].query])
        unsorted.push_back(all[s].query);
    }
    constexpr size_t kTogether = 1024;
    parallelFor(0, int64_t((all.size() + kTogether - 1) / kTogether), [&](int64_t t, int) {
      const size_t begin = size_t(t) * kTogether;
      for (size_t s = begin; s < std::min(all.size(), begin + kTogether); ++s) {
        std::copy_n(ids + all[s].start, all[s].count, all_.ids.data() + places[s]);
        std::copy_n(distances + all[s].start, all[s].count, all_.distances.data() + places[s]);
      }
    });
    std::sort(unsorted.begin(), unsorted.end());
    unsorted.erase(std::unique(unsorted.begin(), unsorted.end()), unsorted.end());
    sort(unsorted);
  }
  void sort(std::span<const uint32_t> queries) {
    sortWithin(all_, all_.starts.size() - 1 - counts_.size(), queries, ready_.pipeline.order);
  }

  /// Fills in what there was no room for, so many queries at a time that there is.
  void findAgain() {
    for (size_t first = 0, end; first < counts_.size(); first = end) {
      end = first + 1;
      uint64_t results = counts_[first];
      while (end < counts_.size() && results + counts_[end] <= kResults)
        results += counts_[end++];
      if (results == 0)
        continue;
      const annudf_within to = placesFor(first, end - first, results, 0);
      ready_.pipeline.within = to;
      ANNUDF_CUDA(cuMemsetD8Async, to.found, 0, sizeof *found_, lease_.stream());
      ready_.pipeline.enqueueWithin(ready_.kernels, *lease_, launcher_, to.found + batch_.queriesAt,
                                    batch_.queries, batch_.base, to, end - first);
      readFound();
      ANNUDF_CUDA(cuStreamSynchronize, lease_.stream());
      copySegments();
    }
  }

  Ready &ready_;
  WorkspacePool::Lease &lease_;
  const std::shared_ptr<const Context> context_;
  StreamLauncher launcher_;
  const int64_t most_;
  StageClock *const clock_;
  Batch batch_;
  annudf_within_found *found_ = nullptr; ///< In pinned memory, of the last kernel.
  std::byte *staged_ = nullptr;          ///< Queries in pinned memory.
  std::vector<uint32_t> counts_;         ///< The batch's.
  std::vector<uint64_t> next_;           ///< A query of the batch: place of its next result.
  WithinRadius all_ = {{0}, {}, {}};
};

WithinRadius DeviceBackend::searchRadius(const RowStore &index, const MetricView &metric,
                                         const BoundCaptures &captures, const MatrixView &queries,
                                         float radius, int64_t mostResults,
                                         const SearchParams &params, SearchStats *stats) {
  checkRadius(index, metric, queries, radius, params);
  checkCaptures(metric, captures, extentsOf(index, queries, params));
  const StoreCaptures ofStore(index, metric.artifact.manifest, captures);
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  ContextScope scope(*context_);
  const Wanted wanted{std::min<int64_t>(index.size(), kPlannedResults), nullptr, nullptr,
                      kMostQueries, radius};
  Ready ready = prepare(index, metric, ofStore, queries, wanted, params, report);
  const auto start = std::chrono::steady_clock::now();
  const auto lease = pool_.acquire(true, nullptr);
  NanCounter &nan = (*lease)->nan();
  ready.pipeline.nan = nan.address();
  if (stats)
    tell(ready.pipeline.plan, params, report);
  std::optional<StageClock> clock;
  if (params.timeStages)
    clock.emplace(context_);
  const auto total = static_cast<uint64_t>(queries.rows), batch = ready.pipeline.batch();
  const auto rowBytes = static_cast<uint64_t>(bytesOfRow(queries.element, queries.dims));
  RadiusRun run(ready, *lease, context_, mostResults, clock ? &*clock : nullptr);
  double fillMs = 0;
  try {
    for (uint64_t first = 0; first < total; first += batch) {
      runtime::report(params.progress, "search", double(first) / double(total));
      const uint64_t count = std::min(batch, total - first);
      run.find(static_cast<const std::byte *>(queries.data) + first * rowBytes, count * rowBytes,
               count, params.firstQuery + static_cast<int64_t>(first), [&](const void *staged) {
                 checkFinite({staged, int64_t(count), queries.dims, queries.element}, "queries", 0,
                             index.missingValues() ? NaNs::Missing : NaNs::Refused, int64_t(first));
               });
      const auto filling = std::chrono::steady_clock::now();
      run.take();
      fillMs += msSince(filling);
    }
  } catch (const Error &) { // The workspace is in order: it need not be made anew.
    ANNUDF_CUDA(cuStreamSynchronize, lease->stream());
    SearchStats lost;
    nan.takeAll(lost);
    lease->finish();
    throw;
  }
  report.workspaceBytes = (*lease)->arenaBytes();
  nan.takeAll(report);
  lease->finish();
  if (clock) {
    clock->report(total, report);
    addStage(report.stages, "finish", fillMs);
  }
  runtime::report(params.progress, "search", 1);
  report.searchMs = msSince(start);
  return run.takeAll();
}

} // namespace annudf::runtime::cuda
