//===- SearchRadius.cpp - Radius search on a GPU --------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scan leaves a key of every row. One kernel counts those within the radius, so that just the
// room for them is taken; another writes them, and the host sorts each query's.
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include "annudf/runtime/engine/Radius.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace annudf::runtime::cuda {

/// The batches of a search, one after the other.
class DeviceBackend::RadiusRun {
public:
  /// \param most  results of all batches.
  RadiusRun(const Ready &ready, WorkspacePool::Lease &lease, const Context &context, int64_t most,
            StageClock *clock)
      : ready_(ready), lease_(lease), launcher_(context, lease.stream()), most_(most),
        clock_(clock) {}

  /// Counts what a batch of queries has; its scan has ended then.
  /// \param queries  in host memory. \param base  number of the first.
  /// \param checkQueries  called while the device works.
  template <class Check>
  void count(const std::byte *queries, uint64_t queryBytes, uint64_t count, int64_t base,
             Check checkQueries) {
    const CUstream stream = lease_.stream();
    // Staging holds counts, then queries, each aligned.
    const uint64_t countBytes = aligned(count * sizeof(uint32_t));
    Buffer &device = lease_->staging(countBytes + queryBytes),
           &pinned = lease_->pinned(countBytes + queryBytes);
    std::memcpy(pinned.host() + countBytes, queries, queryBytes);
    ANNUDF_CUDA(cuMemcpyHtoDAsync, device.device() + countBytes, pinned.host() + countBytes,
                queryBytes, stream);
    ANNUDF_CUDA(cuMemsetD8Async, device.device(), 0, countBytes, stream);
    if (clock_)
      clock_->begin(stream);
    ready_.pipeline.enqueue(ready_.kernels, *lease_, launcher_, device.device() + countBytes, count,
                            base, device.device(), 0, clock_);
    lease_->nan().enqueued(ready_.pipeline.pairsOf(count));
    ANNUDF_CUDA(cuMemcpyDtoHAsync, pinned.host(), device.device(), count * sizeof(uint32_t),
                stream);
    checkQueries(pinned.host() + countBytes); // The copy that the cache still holds.
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    counts_.resize(count);
    std::memcpy(counts_.data(), pinned.host(), count * sizeof(uint32_t));
    const int64_t found =
        found_.starts.back() + std::accumulate(counts_.begin(), counts_.end(), int64_t(0));
    if (found > most_)
      throw TooManyResults(found, most_);
  }

  /// Appends the results of that batch.
  void fill() {
    const size_t before = found_.starts.size() - 1;
    for (const uint32_t count : counts_)
      found_.starts.push_back(found_.starts.back() + count);
    found_.ids.resize(static_cast<size_t>(found_.starts.back()));
    found_.distances.resize(found_.ids.size());
    for (size_t first = 0, end; first < counts_.size(); first = end) {
      end = first + 1; // However many results one query has, they are filled in together.
      uint64_t results = counts_[first];
      while (end < counts_.size() && results + counts_[end] <= kResults)
        results += counts_[end++];
      if (results != 0)
        fillPart(before, first, end, results);
    }
    sortWithin(found_, before, ready_.pipeline.order);
  }

  WithinRadius takeFound() { return std::move(found_); }

private:
  /// Results that are on the device at a time.
  static constexpr uint64_t kResults = uint64_t(1) << 22;
  static uint64_t aligned(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

  /// \param before      queries of batches before.
  /// \param first, end  queries of the batch, with so many results.
  void fillPart(size_t before, size_t first, size_t end, uint64_t results) {
    const CUstream stream = lease_.stream();
    const uint64_t queries = end - first, startBytes = aligned(queries * sizeof(uint64_t)),
                   countBytes = aligned(queries * sizeof(uint32_t)),
                   idBytes = aligned(results * sizeof(int64_t));
    Buffer &device = lease_->staging(startBytes + countBytes + idBytes + results * sizeof(float));
    Buffer &pinned = lease_->pinned(startBytes);
    const int64_t *const starts = found_.starts.data() + before;
    auto *const to = reinterpret_cast<uint64_t *>(pinned.host());
    for (size_t q = first; q < end; ++q)
      to[q - first] = static_cast<uint64_t>(starts[q] - starts[first]);
    const uint64_t startsAt = device.device(), countsAt = startsAt + startBytes,
                   idsAt = countsAt + countBytes, distancesAt = idsAt + idBytes;
    ANNUDF_CUDA(cuMemcpyHtoDAsync, startsAt, to, queries * sizeof(uint64_t), stream);
    ANNUDF_CUDA(cuMemsetD8Async, countsAt, 0, countBytes, stream);
    ready_.pipeline.enqueueWithin(*lease_, launcher_, counts_.size(),
                                  {first, queries, countsAt, startsAt, idsAt, distancesAt});
    const auto at = static_cast<size_t>(starts[first]);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, found_.ids.data() + at, idsAt, results * sizeof(int64_t),
                stream);
    ANNUDF_CUDA(cuMemcpyDtoHAsync, found_.distances.data() + at, distancesAt,
                results * sizeof(float), stream);
    ANNUDF_CUDA(cuStreamSynchronize, stream);
  }

  const Ready &ready_;
  WorkspacePool::Lease &lease_;
  StreamLauncher launcher_;
  const int64_t most_;
  StageClock *const clock_;
  std::vector<uint32_t> counts_; ///< The batch's.
  WithinRadius found_ = {{0}, {}, {}};
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
  RadiusRun run(ready, *lease, *context_, mostResults, clock ? &*clock : nullptr);
  double fillMs = 0;
  try {
    for (uint64_t first = 0; first < total; first += batch) {
      runtime::report(params.progress, "search", double(first) / double(total));
      const uint64_t count = std::min(batch, total - first);
      run.count(static_cast<const std::byte *>(queries.data) + first * rowBytes, count * rowBytes,
                count, params.firstQuery + static_cast<int64_t>(first), [&](const void *staged) {
                  checkFinite({staged, int64_t(count), queries.dims, queries.element}, "queries", 0,
                              index.missingValues() ? NaNs::Missing : NaNs::Refused,
                              int64_t(first));
                });
      const auto filling = std::chrono::steady_clock::now();
      run.fill();
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
  return run.takeFound();
}

} // namespace annudf::runtime::cuda
