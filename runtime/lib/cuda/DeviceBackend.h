//===- DeviceBackend.h - The backend of one device --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DEVICEBACKEND_H
#define ANNUDF_RUNTIME_LIB_CUDA_DEVICEBACKEND_H

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Columns.h"

#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"
#include "cuda/build/CandidateStore.h"
#include "cuda/build/IndexBuilder.h"
#include "cuda/build/PassingRows.h"
#include "cuda/driver/CallerMemory.h"
#include "cuda/resident/DeviceCaptures.h"
#include "cuda/resident/DeviceCopies.h"
#include "cuda/resident/DeviceFilters.h"
#include "cuda/search/DevicePredicate.h"
#include "cuda/search/LoadedScans.h"
#include "cuda/search/PreparedSearch.h"

#include <optional>

namespace annudf::runtime::cuda {

class DeviceBackend final : public CudaBackend {
public:
  explicit DeviceBackend(int device)
      : context_(std::make_shared<Context>(device)), kernels_(context_), captures_(context_),
        filters_(context_), pool_(context_) {
    (void)linkerVersion(); // Without it no search can run: say so now.
  }

  void search(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats) override;
  void searchDevice(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                    float *distances, void *stream, SearchStats *stats) override;
  std::unique_ptr<PreparedSearch> prepareDevice(const RowStore &index, const MetricView &metric,
                                                const BoundCaptures &captures,
                                                const MatrixView &queries, int k,
                                                const SearchParams &params, void *stream,
                                                SearchStats *stats) override;
  void distances(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery) override;
  void distancesDevice(const RowStore &index, const MetricView &metric,
                       const BoundCaptures &captures, const MatrixView &queries, float *distances,
                       void *stream, SearchStats *stats) override;
  WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, float radius,
                            int64_t mostResults, const SearchParams &params,
                            SearchStats *stats) override;
  Index build(const IndexParams &params, const MatrixView &base, void *stream,
              const Progress &progress, BuildStats *stats) override;
  Index buildFromHost(const IndexParams &params, const MatrixView &base, const Progress &progress,
                      BuildStats *stats) override;
  Index storeRows(const MatrixView &rows, const RowsPlace &at, const RowsParams &params,
                  BuildStats *stats) override;
  void extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
              const Progress &progress) override;
  void extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids,
                      const Progress &progress) override;
  int64_t remove(Index &index, std::span<const int64_t> ids, const Progress &progress) override;
  void mergeParts(const PartialResults &from, int64_t k, int64_t *ids, float *distances,
                  void *stream) override;
  void refine(const MatrixView &rows, const RowsPlace &rowsAt, const CandidateRows &candidates,
              const RowsPlace &candidatesAt, const MetricView &metric,
              const BoundCaptures &captures, const MatrixView &queries, const RowsPlace &queriesAt,
              int64_t k, const SearchParams &params, int64_t *ids, float *distances,
              SearchStats *stats) override;
  void refineOwn(const RowStore &index, const CandidateRows &candidates,
                 const RowsPlace &candidatesAt, const MetricView &metric,
                 const BoundCaptures &captures, const MatrixView &queries,
                 const RowsPlace &queriesAt, int64_t k, const SearchParams &params, int64_t *ids,
                 float *distances, SearchStats *stats) override;
  /// Enqueues the choice of the lists that searchDevice() of the queries would probe.
  /// \param lists  queries.rows x probes, in memory of the device.
  void rankLists(const RowStore &index, const MetricView &metric, const MatrixView &queries,
                 uint32_t probes, uint64_t lists, CUstream stream);
  /// searchDevice() of lists that rankLists() has chosen; the arguments were checked.
  /// \param lists  0: it ranks them itself.
  /// \param dealt  to how many devices dealLists() dealt them; 1: it did not.
  void searchRanked(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &queries, int k, const SearchParams &params, uint64_t lists,
                    int dealt, int64_t *ids, float *distances, CUstream stream, SearchStats *stats);
  /// Enqueues what leaves every `devices`-th list in a table of `count` to this one.
  void dealLists(const RowStore &index, uint64_t lists, uint64_t count, int number, int devices,
                 CUstream stream);
  /// Adds the pairs of searches with the metric that were enqueued and are done.
  void takePairs(const MetricView &metric, SearchStats &stats) {
    nans_.of(metric.digest)->take(stats);
  }
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
  void checkMemory(const void *address, uint64_t bytes, size_t alignment,
                   const char *what) override;
  std::vector<std::byte> read(const void *address, uint64_t bytes, size_t alignment, void *stream,
                              const char *what) override;
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
    if (metric.artifact.manifest.seesQuery) {
      (void)scans_.get(metric, elements.rows, kFilterWords, report);
      return;
    }
    const auto fit = familiesFor(metric.artifact, context_->sm(), elements);
    std::vector<SearchStats> costs(fit.size());
    const auto start = std::chrono::steady_clock::now();
    parallelFor(static_cast<int>(fit.size()), static_cast<int64_t>(fit.size()),
                [&](int64_t i, int) {
                  ContextScope scope(*context_);
                  (void)scans_.get(metric, elements, *fit[static_cast<size_t>(i)], {},
                                   costs[static_cast<size_t>(i)]);
                });
    report.linkMs = msSince(start);
    addLinks(costs, report);
  }
  std::span<const KernelFamily *const> families() const override { return kernelFamilies(); }
  Machine machine() const override {
    return {.arch = context_->sm(),
            .processors = context_->processors(),
            .sharedBytes = uint64_t(context_->mostSharedBytes()),
            .workspaceBytes = pool_.allowed().bytes,
            .workspaceIsAsked = pool_.allowed().isAsked,
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
    std::shared_ptr<DeviceIndex> index; ///< Or the rows of it that pass the filter.
    std::shared_ptr<const DeviceCaptures> captures;
    std::shared_ptr<const Buffer> filter;
    std::shared_ptr<const Buffer> given; ///< The lists that the caller names; null: none.
    Pipeline pipeline;
    FamilyKernels kernels;
    double gatherMs = 0; ///< What gathering rows took.
  };
  /// What is to be found, of how many queries at most at once, and where it goes.
  struct Wanted {
    int64_t columns; ///< k, or the rows of the index.
    int64_t *ids;    ///< Null for every distance.
    float *distances;
    uint64_t mostAtOnce;
    std::optional<float> radius = {}; ///< All within it are wanted; results go elsewhere.
    uint64_t ranked = 0;              ///< As searchRanked() has `lists`.
    int dealt = 1;                    ///< The same.
    bool every() const { return !ids && !radius; }
  };
  class RadiusRun;       ///< A radius search under way.
  class DeviceResources; ///< What one search finds on the backend, for its planner.
  Ready prepare(const RowStore &index, const MetricView &metric, const StoreCaptures &ofStore,
                const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
                SearchStats &stats);
  void run(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
           const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
           SearchStats *stats);
  void runDevice(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
                 void *stream, SearchStats *stats);
  /// The table of lists that the caller names, on the device; null where candidates are others.
  std::shared_ptr<const Buffer> uploadLists(const Candidates &candidates, int64_t queries) const;
  std::shared_ptr<DeviceIndex> upload(const RowStore &index, const Progress &progress,
                                      SearchStats *stats = nullptr);
  /// Where its ids are, on the device.
  std::shared_ptr<const SlotsThere> slotsOf(const RowStore &index);
  /// The rows of an index that passed its last filter.
  std::shared_ptr<PassingRows> passingOf(const RowStore &index);
  /// The k best of each query's candidates.
  void rank(const CandidateCall &call, const MetricView &metric, const BoundCaptures &captures,
            const MatrixView &queries, const RowsPlace &queriesAt, int64_t k,
            const SearchParams &params, int64_t *ids, float *distances, SearchStats *stats);
  /// Puts an index's copy where searches look for it; null: there is none.
  void keep(const RowStore &index, const std::shared_ptr<DeviceIndex> &copy);

  const std::shared_ptr<const Context> context_;
  const SearchKernels kernels_;
  CaptureCache captures_;
  ProductBounds bounds_{context_};
  FilterCache filters_;
  NanCounters nans_{context_};
  LoadedScans scans_{context_};
  DeviceCopies copies_;
  PinnedPieces pieces_{context_};
  IndexBuilder builder_{context_};
  const std::shared_ptr<CandidateMemory> candidates_ = std::make_shared<CandidateMemory>(context_);
  WorkspacePool pool_; // Last: its searches end before what they read goes.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DEVICEBACKEND_H
