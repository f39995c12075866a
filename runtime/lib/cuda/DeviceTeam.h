//===- DeviceTeam.h - Several devices as one backend ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_DEVICETEAM_H
#define ANNUDF_RUNTIME_LIB_CUDA_DEVICETEAM_H

#include "DeviceBackend.h"
#include "TeamLanes.h"

#include "annudf/runtime/engine/SearchTeam.h"

#include <atomic>
#include <functional>

namespace annudf::runtime::cuda {

/// The first device has the caller's arrays, builds, and merges. Work of a search is enqueued on
/// all devices at once; between them events and copies are enqueued, so that nobody waits.
class DeviceTeam final : public CudaBackend {
public:
  using Devices = std::vector<std::shared_ptr<DeviceBackend>>;
  DeviceTeam(Devices devices, TeamMode mode);

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
                 SearchStats *stats, int64_t firstQuery) override {
    team_.distances(index, metric, captures, queries, progress, distances, stats, firstQuery);
  }
  void distancesDevice(const RowStore &index, const MetricView &metric,
                       const BoundCaptures &captures, const MatrixView &queries, float *distances,
                       void *stream, SearchStats *stats) override;
  WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, float radius,
                            int64_t mostResults, const SearchParams &params,
                            SearchStats *stats) override {
    return team_.searchRadius(index, metric, captures, queries, radius, mostResults, params, stats);
  }
  Index build(const IndexParams &params, const MatrixView &base, void *stream,
              const Progress &progress, BuildStats *stats) override {
    return settled(first().build(params, base, stream, progress, stats));
  }
  Index buildFromHost(const IndexParams &params, const MatrixView &base, const Progress &progress,
                      BuildStats *stats) override {
    return settled(first().buildFromHost(params, base, progress, stats));
  }
  Index storeRows(const MatrixView &rows, const RowsPlace &at, const RowsParams &params,
                  BuildStats *stats) override;
  void extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
              const Progress &progress) override {
    first().extend(index, rows, ids, stream, progress);
  }
  void extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids,
                      const Progress &progress) override {
    first().extendFromHost(index, rows, ids, progress);
  }
  int64_t remove(Index &index, std::span<const int64_t> ids, const Progress &progress) override {
    return first().remove(index, ids, progress);
  }
  void mergeParts(const PartialResults &from, int64_t k, int64_t *ids, float *distances,
                  void *stream) override {
    first().mergeParts(from, k, ids, distances, stream);
  }
  void refine(const MatrixView &rows, const RowsPlace &rowsAt, const CandidateRows &candidates,
              const RowsPlace &candidatesAt, const MetricView &metric,
              const BoundCaptures &captures, const MatrixView &queries, const RowsPlace &queriesAt,
              int64_t k, const SearchParams &params, int64_t *ids, float *distances,
              SearchStats *stats) override {
    first().refine(rows, rowsAt, candidates, candidatesAt, metric, captures, queries, queriesAt, k,
                   params, ids, distances, stats);
  }
  void refineOwn(const RowStore &index, const CandidateRows &candidates,
                 const RowsPlace &candidatesAt, const MetricView &metric,
                 const BoundCaptures &captures, const MatrixView &queries,
                 const RowsPlace &queriesAt, int64_t k, const SearchParams &params, int64_t *ids,
                 float *distances, SearchStats *stats) override;
  int device() const override { return first().device(); }
  /// The oldest, so that code for it runs on all.
  int arch() const override;
  std::unique_ptr<DeviceMemory> allocate(uint64_t bytes, void *stream) override {
    return first().allocate(bytes, stream);
  }
  void copy(uint64_t destination, uint64_t source, uint64_t bytes, void *stream) override {
    first().copy(destination, source, bytes, stream);
  }
  void synchronize(void *stream) override { first().synchronize(stream); }
  void checkMemory(const void *address, uint64_t bytes, size_t alignment,
                   const char *what) override {
    first().checkMemory(address, bytes, alignment, what);
  }
  std::vector<std::byte> read(const void *address, uint64_t bytes, size_t alignment, void *stream,
                              const char *what) override {
    return first().read(address, bytes, alignment, stream, what);
  }
  std::unique_ptr<StreamEvent> record(void *stream) override { return first().record(stream); }
  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    team_.precompile(metric, elements, stats);
  }
  std::span<const KernelFamily *const> families() const override { return first().families(); }
  Machine machine() const override { return first().machine(); }
  std::string describe() const override { return team_.describe(); }

private:
  /// A search of arrays of the first device.
  struct Call;
  DeviceBackend &first() const { return *devices_.front(); }
  int count() const { return static_cast<int>(devices_.size()); }
  bool isSharded() const { return team_.mode() == TeamMode::Sharded && count() > 1; }
  /// An index as searches by shards want it.
  Index settled(Index index) const;
  void searchReplicas(const Call &call, SearchStats *stats);
  /// A search of all queries on all devices.
  /// \param shards  null: devices have all rows, and each scans lists of its own.
  void searchTogether(const Call &call, const Shards *shards, SearchStats *stats);
  /// The lists of each query, of which each device ranks those of some queries, on all devices.
  void rankTogether(const Call &call, const Shards *shards, Lanes &lanes, uint32_t probes,
                    bool warm);
  /// What a device searches.
  static const RowStore &rowsOf(const Call &call, const Shards *shards, int number);
  /// Whether devices rank lists for each other, and merge on the first.
  bool isTogether(const RowStore &index, const MatrixView &queries,
                  const SearchParams &params) const;
  /// Null where each device has all rows.
  std::shared_ptr<const Shards> shardsOf(const RowStore &index) const;
  /// Whether every shard has so many rows.
  bool hasEach(const Shards *shards, int k) const;
  /// A search of host arrays so, of a part of the queries.
  void searchStaged(const Call &call, const Shards *shards, Stage &stage, const QueryPart &part,
                    SearchStats *stats);
  /// Calls `work` of each device: one after the other where nothing is uploaded or linked, as the
  /// host then takes less than threads take to wake.
  void enqueueOnEach(bool warm, const Progress &progress,
                     const std::function<void(int number, const Progress &progress)> &work);
  /// Whether the last search was like this one.
  bool isWarm(const Call &call);
  /// A search of shards whose results are merged on the host; waits.
  void searchByHost(const Call &call, SearchStats *stats);
  void refineShards(const RowStore &index, const CandidateRows &candidates,
                    const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                    float *distances, SearchStats *stats);
  /// Queries of the first device, copied to memory of the host.
  MatrixView onHost(const MatrixView &queries, void *stream, std::vector<std::byte> &memory);
  /// Copies results to the first device.
  void give(const std::vector<int64_t> &ids, const std::vector<float> &distances, int64_t *toIds,
            float *toDistances, void *stream);

  const Devices devices_;
  const std::vector<std::shared_ptr<const Context>> contexts_;
  SearchTeam team_;
  LanesPool lanes_;
  Lending<Stage> stages_;
  std::atomic<size_t> lastSearch_{0};
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_DEVICETEAM_H
