//===- CudaBackend.cpp - Searching on a GPU -------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/cuda/Cuda.h"

#include "DeviceBuild.h"
#include "DeviceCaptures.h"
#include "DeviceCopies.h"
#include "DeviceFilters.h"
#include "DeviceMemory.h"
#include "PreparedSearch.h"
#include "Scans.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

namespace annudf::runtime {

namespace {

using namespace cuda;

class Implementation final : public CudaBackend {
public:
  explicit Implementation(int device)
      : context_(std::make_shared<Context>(device)), kernels_(context_), captures_(context_),
        filters_(context_), pool_(context_) {
    (void)linkerVersion(); // Without it no search can run: say so now.
  }

  void search(const Index &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats) override;
  void searchDevice(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                    float *distances, void *stream, SearchStats *stats) override;
  std::unique_ptr<PreparedSearch> prepareDevice(const Index &index, const MetricView &metric,
                                                const BoundCaptures &captures,
                                                const MatrixView &queries, int k,
                                                const SearchParams &params, void *stream,
                                                SearchStats *stats) override;
  void distances(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery) override;
  void distancesDevice(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                       const MatrixView &queries, float *distances, void *stream,
                       SearchStats *stats) override;
  Index build(const IndexParams &params, const MatrixView &base, void *stream,
              const Progress &progress, BuildStats *stats) override;
  Index buildFromHost(const IndexParams &params, const MatrixView &base, const Progress &progress,
                      BuildStats *stats) override;
  void extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
              const Progress &progress) override;
  void extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids,
                      const Progress &progress) override;
  int device() const override { return context_->device(); }
  int arch() const override { return context_->sm(); }
  std::unique_ptr<DeviceMemory> allocate(uint64_t bytes, void *stream) override {
    ContextScope scope(*context_);
    return allocateOnStream(context_, bytes, checkStream(*context_, stream));
  }
  void copy(uint64_t destination, uint64_t source, uint64_t bytes, void *stream) override {
    ContextScope scope(*context_);
    const CUstream on = checkStream(*context_, stream);
    if (bytes != 0)
      ANNUDF_CUDA(cuMemcpyAsync, destination, source, bytes, on);
  }
  void synchronize(void *stream) override {
    ContextScope scope(*context_);
    ANNUDF_CUDA(cuStreamSynchronize, checkStream(*context_, stream));
  }
  std::unique_ptr<StreamEvent> record(void *stream) override {
    ContextScope scope(*context_);
    return recordEvent(context_, checkStream(*context_, stream));
  }
  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    checkElements(metric, elements);
    ContextScope scope(*context_);
    SearchStats local;
    SearchStats &report = stats ? *stats : local;
    report = {};
    const auto fit = familiesFor(metric.artifact, context_->sm(), elements);
    std::vector<SearchStats> costs(fit.size());
    const auto start = std::chrono::steady_clock::now();
    parallelFor(static_cast<int>(fit.size()), static_cast<int64_t>(fit.size()),
                [&](int64_t i, int) {
                  ContextScope scope(*context_);
                  (void)scans_.get(metric, elements, *fit[static_cast<size_t>(i)],
                                   costs[static_cast<size_t>(i)]);
                });
    report.linkMs = msSince(start);
    addLinks(costs, report);
  }
  std::vector<const KernelFamily *> families() const override {
    return {cuda::families().begin(), cuda::families().end()};
  }
  Machine machine() const override {
    return {.arch = context_->sm(),
            .processors = context_->processors(),
            .sharedBytes = uint64_t(context_->mostSharedBytes()),
            .memoryBytesPerMs = context_->memoryBytesPerMs(),
            .clocksPerMs = context_->clocksPerMs()};
  }
  std::string describe() const override {
    return "CUDA device " + std::to_string(context_->device()) + ": " + context_->name() + ", sm_" +
           std::to_string(context_->sm());
  }

private:
  /// What a search holds on to until it is done.
  struct Ready {
    std::shared_ptr<DeviceIndex> index;
    std::shared_ptr<const DeviceCaptures> captures;
    std::shared_ptr<const Buffer> filter;
    SearchPlan plan;
    uint64_t batch; ///< Queries of each batch but the last.
    ScanKernels scans;
  };
  /// What is to be found, of how many queries at most at once, and where it goes.
  struct Wanted {
    int64_t columns; ///< k, or the rows of the index.
    int64_t *ids;    ///< Null for every distance.
    float *distances;
    uint64_t mostAtOnce;
    bool every() const { return !ids; }
  };
  Ready prepare(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
                SearchStats &stats);
  void run(const Index &index, const MetricView &metric, const BoundCaptures &captures,
           const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
           SearchStats *stats);
  void runDevice(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
                 void *stream, SearchStats *stats);
  std::shared_ptr<DeviceIndex> upload(const Index &index, const Progress &progress,
                                      SearchStats *stats = nullptr);
  /// Puts an index's copy where searches look for it; null: there is none.
  void keep(const Index &index, const std::shared_ptr<DeviceIndex> &copy);

  const std::shared_ptr<const Context> context_;
  const SearchKernels kernels_;
  CaptureCache captures_;
  MatrixBounds bounds_{context_};
  FilterCache filters_;
  Scans scans_{context_};
  DeviceCopies copies_;
  PinnedPieces pieces_{context_};
  IndexBuilder builder_{context_};
  WorkspacePool pool_; // Last: its searches end before what they read goes.
};

std::shared_ptr<DeviceIndex> Implementation::upload(const Index &index, const Progress &progress,
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

Index Implementation::build(const IndexParams &params, const MatrixView &base, void *stream,
                            const Progress &progress, BuildStats *stats) {
  BuildStats local;
  BuiltIndex built = builder_.build(params, base, stream, progress, stats ? *stats : local);
  keep(built.index, built.copy);
  return std::move(built.index);
}

Index Implementation::buildFromHost(const IndexParams &params, const MatrixView &base,
                                    const Progress &progress, BuildStats *stats) {
  BuildStats local;
  BuiltIndex built =
      builder_.buildFromHost(params, base, pieces_, progress, stats ? *stats : local);
  keep(built.index, built.copy);
  return std::move(built.index);
}

void Implementation::keep(const Index &index, const std::shared_ptr<DeviceIndex> &copy) {
  bool made = false;
  if (copy)
    (void)copies_.get(index, context_->device(), [&] { return copy; }, made);
}

void Implementation::extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
                            const Progress &progress) {
  keep(index, builder_.extend(index, rows, ids, stream, progress,
                              [&] { return upload(index, progress); }));
}

void Implementation::extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids,
                                    const Progress &progress) {
  keep(index, builder_.extendFromHost(index, rows, ids, pieces_, progress,
                                      [&] { return upload(index, progress); }));
}

/// Why a search has no use for bounds, whatever its metric's form; null where it may have.
const char *whyNoBounds(const MetricView &metric, const Index &index, bool everyDistance,
                        const SearchParams &params, int sm) {
  if (!metric.artifact.manifest.form)
    return Workload{}.noForm;
  const char *wanted = std::getenv("ANNUDF_MATRIX");
  if (wanted && std::string_view(wanted) == "0")
    return "ANNUDF_MATRIX is 0";
  if (everyDistance)
    return "every distance is wanted";
  if (index.missingValues())
    return "coordinates may be missing";
  if (params.filter && params.family.empty())
    return "a filter leaves some rows, which products do not know";
  if (!isFusedAhead(metric.artifact, sm))
    return "the linker decides which products are fused";
  return nullptr;
}

Implementation::Ready Implementation::prepare(const Index &index, const MetricView &metric,
                                              const BoundCaptures &captures,
                                              const MatrixView &queries, const Wanted &wanted,
                                              const SearchParams &params, SearchStats &stats) {
  if (wanted.columns > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::Usage, "every distance to " + std::to_string(wanted.columns) +
                                      " rows: the CUDA backend takes fewer than 4294967296");
  auto copy = upload(index, params.progress, &stats);
  auto bound = captures_.get(captures);
  auto filter = filters_.get(params.filter.get());
  const Manifest &manifest = metric.artifact.manifest;
  SearchPlan plan = {*context_,
                     kernels_,
                     *copy,
                     bound->slots,
                     filter ? filter->device() : 0,
                     queries.element,
                     manifest.order,
                     manifest.coarse,
                     manifest.coarseOrder,
                     static_cast<uint32_t>(wanted.columns),
                     params.nProbes,
                     wanted.every(),
                     workloadOf(manifest, index, 0,
                                static_cast<int>(std::min<int64_t>(wanted.columns, ANNUDF_MAX_K)),
                                params.nProbes),
                     machine(),
                     manifest.packed && manifest.packed->negated};
  plan.work.bodyBytes = bodyBytesOf(metric.artifact, context_->sm());
  plan.findProbedRows(index, queries.rows);
  plan.work.packedDims = packedDimsOf(manifest, {index.element(), queries.element});
  plan.work.family = params.family;
  if (const char *why = whyNoBounds(metric, index, wanted.every(), params, context_->sm()))
    plan.work.noForm = why;
  plan.checkFits();
  const auto total = static_cast<uint64_t>(queries.rows);
  const auto batchOf =
      [&] { // Each reads the lists anew, so fewer are worth asking for more memory.
        uint64_t batch = plan.batch(total, kLeastWorkspace);
        if (batch < total)
          batch = plan.batch(total, pool_.limit());
        return std::min(batch, wanted.mostAtOnce);
      };
  uint64_t batch = 0;
  const CudaFamily *families[2];
  const auto choose = [&] {
    batch = batchOf();
    // The last batch has fewer queries, for which another family may be quicker.
    families[0] = &plan.familyOf(std::min(batch, total));
    families[1] = &plan.familyOf(total % batch ? total % batch : batch);
  };
  choose();
  if (families[0]->tiling(plan.work).bounds || families[1]->tiling(plan.work).bounds) {
    std::string why;
    plan.bound = bounds_.get(index, *copy, metric, captures, why);
    if (!plan.bound && !params.family.empty())
      throw Error(ErrorKind::Input, "family '" + params.family + "': " + why);
    if (!plan.bound) {
      plan.work.noForm = "its form has no bounds for these captures and this memory";
      choose();
    }
  }
  std::span<const CudaFamily *const> needed(families, families[0] == families[1] ? 1 : 2);
  const ScanElements elements = {index.element(), queries.element};
  ScanKernels scans = scans_.loaded(needed, metric, elements);
  if (scans.empty() && params.family.empty() && !params.waitForLinks && !params.timeStages)
    if (const auto instead = scans_.insteadOf(needed, metric, elements, plan, total, stats);
        instead.family) {
      plan.linking = instead.linking->name(), plan.work.family = instead.family->name();
      batch = batchOf();
      families[0] = instead.family, needed = needed.first(1);
    }
  if (scans.empty())
    for (const CudaFamily *family : needed)
      scans.emplace_back(family, scans_.get(metric, elements, *family, stats));
  return {std::move(copy), std::move(bound), std::move(filter), plan, batch, std::move(scans)};
}

void Implementation::run(const Index &index, const MetricView &metric,
                         const BoundCaptures &captures, const MatrixView &queries,
                         const Wanted &wanted, const SearchParams &params, SearchStats *stats) {
  checkCaptures(metric, captures, extentsOf(index, queries));
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  ContextScope scope(*context_);
  const Ready ready = prepare(index, metric, captures, queries, wanted, params, report);

  const auto start = std::chrono::steady_clock::now();
  const auto lease = pool_.acquire(true, nullptr);
  const CUstream stream = lease->stream();
  const uint64_t total = static_cast<uint64_t>(queries.rows);
  const uint64_t batch = ready.batch;
  if (stats) // Reasons are words, which take longer than the choice.
    ready.plan.tell(batch, report);
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
    clock.emplace();
  // What breaks a search off here leaves the workspace in order: it need not be made anew.
  auto orStop = [&](auto work) {
    try {
      work();
    } catch (const Error &) {
      ANNUDF_CUDA(cuStreamSynchronize, stream);
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
    ready.plan.enqueue(ready.scans, **lease, launcher, queriesAt, count,
                       params.firstQuery + static_cast<int64_t>(first), idsAt, distancesAt,
                       clock ? &*clock : nullptr);
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
  lease->finish();
  if (clock)
    clock->report(total, report);
  runtime::report(params.progress, "search", 1);
  report.searchMs = msSince(start);
}

void Implementation::runDevice(const Index &index, const MetricView &metric,
                               const BoundCaptures &captures, const MatrixView &queries,
                               const Wanted &wanted, const SearchParams &params, void *stream,
                               SearchStats *stats) {
  checkCaptures(metric, captures, extentsOf(index, queries));
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
  const Ready ready = prepare(index, metric, captures, queries, wanted, params, report);
  const auto lease = pool_.acquire(false, on);
  lease->keep(ready.index);
  for (const auto &[family, scan] : ready.scans)
    lease->keep(scan);
  lease->keep(ready.captures);
  if (ready.filter)
    lease->keep(ready.filter);
  if (ready.plan.bound)
    lease->keep(ready.plan.bound);
  const uint64_t batch = ready.batch;
  if (stats) // Reasons are words, which take longer than the choice.
    ready.plan.tell(batch, report);
  std::optional<StageClock> clock;
  if (params.timeStages)
    clock.emplace();
  StreamLauncher launcher(*context_, lease->stream());
  for (uint64_t first = 0; first < total; first += batch) {
    if (clock)
      clock->begin(lease->stream());
    ready.plan.enqueue(
        ready.scans, **lease, launcher, data + first * rowBytes, std::min(batch, total - first),
        params.firstQuery + static_cast<int64_t>(first),
        wanted.every() ? 0 : reinterpret_cast<uint64_t>(wanted.ids + first * wanted.columns),
        reinterpret_cast<uint64_t>(wanted.distances + first * wanted.columns),
        clock ? &*clock : nullptr);
  }
  lease->finish();
  if (clock)
    clock->report(total, report);
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

void Implementation::search(const Index &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, int k,
                            const SearchParams &params, int64_t *ids, float *distances,
                            SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  run(index, metric, captures, queries, {k, ids, distances, staged(k)}, params, stats);
}

void Implementation::searchDevice(const Index &index, const MetricView &metric,
                                  const BoundCaptures &captures, const MatrixView &queries, int k,
                                  const SearchParams &params, int64_t *ids, float *distances,
                                  void *stream, SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  runDevice(index, metric, captures, queries, {k, ids, distances, kAnyNumber}, params, stream,
            stats);
}

std::unique_ptr<PreparedSearch>
Implementation::prepareDevice(const Index &index, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries, int k,
                              const SearchParams &params, void *stream, SearchStats *stats) {
  MatrixView shape = queries;
  shape.data = &shape; // Those of the runs come later: not looked at.
  checkSearch(index, metric, shape, k, params);
  checkCaptures(metric, captures, extentsOf(index, queries));
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  const ContextScope scope(*context_);
  const CUstream on = checkStream(*context_, stream);
  int64_t ids = 0;            // Not those of every distance.
  SearchParams best = params; // What runs again and again is waited for.
  best.waitForLinks = true;
  Ready ready =
      prepare(index, metric, captures, queries, {k, &ids, nullptr, kAnyNumber}, best, report);
  if (stats)
    ready.plan.tell(ready.batch, report);
  std::vector<std::shared_ptr<const void>> kept = {ready.index, ready.captures, ready.filter};
  return std::make_unique<GraphSearch>(context_, PreparedPlan{ready.plan, std::move(ready.scans),
                                                              std::move(kept),
                                                              static_cast<uint64_t>(queries.rows),
                                                              ready.batch, params.firstQuery, on});
}

void Implementation::distances(const Index &index, const MetricView &metric,
                               const BoundCaptures &captures, const MatrixView &queries,
                               const Progress &progress, float *distances, SearchStats *stats,
                               int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  run(index, metric, captures, queries, {index.size(), nullptr, distances, staged(index.size())},
      {.nProbes = index.nLists(), .progress = progress, .firstQuery = firstQuery}, stats);
}

void Implementation::distancesDevice(const Index &index, const MetricView &metric,
                                     const BoundCaptures &captures, const MatrixView &queries,
                                     float *distances, void *stream, SearchStats *stats) {
  checkDistances(index, metric, queries);
  runDevice(index, metric, captures, queries, {index.size(), nullptr, distances, kAnyNumber},
            {.nProbes = index.nLists()}, stream, stats);
}

} // namespace

std::unique_ptr<CudaBackend> makeCudaDeviceBackend(int device) {
  return std::make_unique<Implementation>(device);
}

std::unique_ptr<Backend> makeCudaBackend(int device) { return makeCudaDeviceBackend(device); }

} // namespace annudf::runtime
