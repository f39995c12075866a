//===- Cuda.h - Searching on a GPU, with streams and device memory --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the CUDA backend offers beyond Backend: queries and results that already are
// on the device, work on the caller's stream, and linking ahead of the first search.
// No CUDA header is needed to include this one: a CUstream or cudaStream_t is passed
// as void *, a device address as a pointer.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_CUDA_CUDA_H
#define ANNUDF_RUNTIME_CUDA_CUDA_H

#include "annudf/runtime/engine/Merge.h"
#include "annudf/runtime/engine/Refine.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/engine/SearchTeam.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cstddef>
#include <span>
#include <vector>

namespace annudf::runtime {

/// Memory of a device. The destructor frees it once the work enqueued before is done.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  virtual uint64_t address() const = 0;
  virtual uint64_t size() const = 0;
};

/// A point in the work of a stream.
class StreamEvent {
public:
  virtual ~StreamEvent() = default;
  virtual bool done() const = 0;
  virtual void wait() const = 0;
};

/// What a build on a device cost; milliseconds.
struct BuildStats {
  double trainMs = 0; ///< With the look at all coordinates.
  double addMs = 0;   ///< Rows to their lists.
  // For rows in host memory.
  double copyMs = 0;          ///< The rows to the device, where all of them went at once.
  int64_t pieces = 0;         ///< In which they went to the device; 1: all at once.
  uint64_t deviceBytes = 0;   ///< The most device memory that it took.
  bool listsOnDevice = false; ///< Else it was too small for them.
};

/// How rows are stored for exact searches.
struct RowsParams {
  RowIds ids = {};            ///< In host memory.
  bool missingValues = false; ///< As of Index::ofOneList.
  int threads = 0;            ///< As IndexParams::threads.
  Progress progress = {};     ///< Stage "add".
};

/// Where rows are.
struct RowsPlace {
  bool onDevice = false;
  void *stream = nullptr; ///< What wrote rows on the device is enqueued there.
};

/// Safe to call from many threads. Device copies of indexes are kept while their
/// generation is current, linked kernels by metric digest and element type.
class CudaBackend : public Backend {
public:
  /// As search(), with queries and results in device memory, enqueued on `stream`
  /// (nullptr or 1: the legacy default stream, 2: that of the thread) without waiting for
  /// it. The first search of an index or a metric uploads or links before it enqueues.
  /// \param queries  `data` is a device address, aligned to the element's size.
  /// \param ids, distances  device addresses, queries.rows x k.
  /// \throws also Error(Usage) for memory that is not this device's or ends too early, and
  /// for a stream of another device. Coordinates are not looked at.
  /// \param stats  links, linkMs and uploadMs; searchMs stays 0, as nothing waits.
  virtual void searchDevice(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, int k,
                            const SearchParams &params, int64_t *ids, float *distances,
                            void *stream, SearchStats *stats = nullptr) = 0;

  /// Checks, uploads and links what searchDevice() of these arguments would, once. Runs enqueue the
  /// search on `stream`; they find the index as it is now, of which they hold the device's copy, as
  /// they do of captures and filter. To be destroyed before the backend.
  /// \param queries  its data is not looked at.
  virtual std::unique_ptr<PreparedSearch>
  prepareDevice(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                const MatrixView &queries, int k, const SearchParams &params, void *stream,
                SearchStats *stats = nullptr) = 0;

  /// As distances(), with queries and distances in device memory, else as searchDevice().
  virtual void distancesDevice(const RowStore &index, const MetricView &metric,
                               const BoundCaptures &captures, const MatrixView &queries,
                               float *distances, void *stream, SearchStats *stats = nullptr) = 0;

  /// As Index::build, of rows in device memory, with the same rows to train on and the same rules
  /// for centers, though not with their very bits. Equal rows, parameters and seeds give equal
  /// indexes. Its lists are on the device alone, until the host needs them: to save it, to
  /// search elsewhere, or where Index::extend or Index::remove is asked for. Means that stand for
  /// missing values are the host's to the bit; adaptive centers are, to the bit, the means that
  /// the host would have made of the same lists.
  /// \param base    as the queries of searchDevice().
  /// \param stream  what has written the base is enqueued there; waited for.
  /// \throws as Index::build; Error(Usage) for 2^32 rows and more, and for a deviceMemoryLimit.
  virtual Index build(const IndexParams &params, const MatrixView &base, void *stream,
                      const Progress &progress = {}, BuildStats *stats = nullptr) = 0;

  /// The same of rows in host memory, within params.deviceMemoryLimit. Where the rows, the sort and
  /// the lists have no room together the rows go there a piece at a time, twice, and where the
  /// lists alone have none these are made on the host; the index is the same to the byte.
  /// \throws as Index::build; Error(Usage) for a limit below what k-means takes, or
  /// Error(Environment) where it is what is free.
  virtual Index buildFromHost(const IndexParams &params, const MatrixView &base,
                              const Progress &progress = {}, BuildStats *stats = nullptr) = 0;

  /// As Index::ofOneList, with the list on the device alone: nothing of rows on the device goes
  /// through the host, and rows on the host go there a piece at a time. Waits until it is done; the
  /// rows are needed no longer then.
  /// \throws as Index::ofOneList; Error(Usage) for 2^32 rows and more, and as searchDevice() for
  /// memory and stream; Error(Environment) where the device has no room for all of them.
  virtual Index storeRows(const MatrixView &rows, const RowsPlace &at, const RowsParams &params,
                          BuildStats *stats = nullptr) = 0;

  /// As Index::extend, of rows in device memory. Where the index's lists are on this device
  /// (Index::device()) they stay there: a list, and an adaptive center, is, to the bit where the
  /// host has fused multiply-add, what it would have become on the host, and searches under way
  /// keep the lists that they have. Takes room for the lists before and after. Lists that are on
  /// the host are extended there.
  /// \param ids     in host memory.
  /// \param stream  what has written the rows is enqueued there; waited for.
  /// \throws also Error(Usage) for 2^32 rows and more, and as searchDevice() for memory and stream.
  virtual void extend(Index &index, const MatrixView &rows, const NewIds &ids, void *stream,
                      const Progress &progress = {}) = 0;
  /// The same of rows in host memory.
  virtual void extendFromHost(Index &index, const MatrixView &rows, const NewIds &ids = {},
                              const Progress &progress = {}) = 0;

  /// As Index::remove. Where the index's lists are on this device they stay there, to the byte
  /// those that the host would leave, as adaptive centers are, and searches under way keep the
  /// lists that they have; an index that has no rows left is the host's. Where there is no room for
  /// the lists before and after, and where they are on the host, rows are removed there.
  /// \param ids  in host memory.
  virtual int64_t remove(Index &index, std::span<const int64_t> ids,
                         const Progress &progress = {}) = 0;

  /// As runtime::mergeParts, of results in device memory, but for translations; enqueued on
  /// `stream` without waiting for it. A distance of -0 becomes 0. Ids are not looked at: what a
  /// translation takes beyond INT64_MAX is no id.
  /// \throws also as searchDevice() for memory and stream.
  virtual void mergeParts(const PartialResults &from, int64_t k, int64_t *ids, float *distances,
                          void *stream) = 0;

  /// As runtime::refine, of arrays in memory of the host or of the device each. Rows on the device
  /// stay where they are, if each begins at a multiple of 16 bytes; else candidates are copied
  /// there some queries at a time, and rows on the host are all copied to the device. Coordinates
  /// of rows are not looked at. Streams of rows and of candidates are waited for; with queries on
  /// the device the search is enqueued on theirs, and the rows are needed until it is done.
  /// \param ids, distances  where the queries are.
  /// \throws also Error(Usage) for 2^32 - 1 rows and more, and as searchDevice() for memory and
  /// streams.
  virtual void refine(const MatrixView &rows, const RowsPlace &rowsAt,
                      const CandidateRows &candidates, const RowsPlace &candidatesAt,
                      const MetricView &metric, const BoundCaptures &captures,
                      const MatrixView &queries, const RowsPlace &queriesAt, int64_t k,
                      const SearchParams &params, int64_t *ids, float *distances,
                      SearchStats *stats = nullptr) = 0;

  /// As runtime::refineOwn, with candidates and queries in memory of the host or of the device
  /// each, else as refine(). Rows are read in the device's copy of the index, which is made where
  /// there is none and which an enqueued search holds.
  virtual void refineOwn(const RowStore &index, const CandidateRows &candidates,
                         const RowsPlace &candidatesAt, const MetricView &metric,
                         const BoundCaptures &captures, const MatrixView &queries,
                         const RowsPlace &queriesAt, int64_t k, const SearchParams &params,
                         int64_t *ids, float *distances, SearchStats *stats = nullptr) = 0;

  virtual int device() const = 0;
  virtual int arch() const = 0; ///< 90 for compute capability 9.0.
  /// For callers without a CUDA library of their own; `stream` as above. The memory may be
  /// used on that stream at once.
  virtual std::unique_ptr<DeviceMemory> allocate(uint64_t bytes, void *stream) = 0;
  /// Enqueues a copy between any two of host and device memory.
  virtual void copy(uint64_t destination, uint64_t source, uint64_t bytes, void *stream) = 0;
  virtual void synchronize(void *stream) = 0;
  /// \param what  for messages. \throws as searchDevice() for memory.
  virtual void checkMemory(const void *address, uint64_t bytes, size_t alignment,
                           const char *what) = 0;
  /// Waits for the stream and copies an array of the device to the host.
  /// \param what  for messages. \throws as searchDevice() for memory and stream.
  virtual std::vector<std::byte> read(const void *address, uint64_t bytes, size_t alignment,
                                      void *stream, const char *what) = 0;
  virtual std::unique_ptr<StreamEvent> record(void *stream) = 0;
};

/// makeCudaBackend() with the wider interface; the same errors.
std::unique_ptr<CudaBackend> makeCudaDeviceBackend(int device = 0);

/// Several devices as one backend. Arrays in device memory are of the first device, which also
/// builds. A device may be named twice. A sharded index of lists that a build left on a device has
/// them on the host.
/// \throws as makeCudaDeviceBackend(), naming the device; Error(Usage) for no devices.
std::unique_ptr<CudaBackend> makeCudaTeamBackend(std::span<const int> devices, TeamMode mode);

/// Leaves all kernels that searches with the metric may run on sm_`sm` in the cache on disk, for
/// processes with such a GPU; needs none itself.
/// \param stats  links, linkMs and diskHits.
/// \throws Error(Input) for a metric without code for sm_`sm`, or where no kernel runs on it;
/// Error(Environment): the cache is off, no use or too small, no nvJitLink, or built without CUDA.
void precompileForCuda(const MetricView &metric, ScanElements elements, int sm,
                       SearchStats *stats = nullptr);

struct CudaDevice {
  std::string description; ///< "0: NVIDIA H200, sm_90, 132 multiprocessors", or why it is not told.
  int arch = 0;            ///< 90 for compute capability 9.0; 0 where it could not be asked.
};

/// What this machine offers the CUDA backend, for `annudf doctor`. Never throws:
/// what is missing is said in words.
struct CudaEnvironment {
  bool built = false; ///< The library was built with CUDA.
  std::string driver; ///< "13.0", or why there is none.
  bool driverFound = false;
  int driverVersion = 0; ///< 13000 for 13.0; 0 if there is none.
  std::vector<CudaDevice> devices;
  std::string linker;    ///< "13.0 (/usr/local/cuda/lib64/libnvJitLink.so.13)", or why not.
  int linkerVersion = 0; ///< As driverVersion.
  bool linkerFound = false;
};
CudaEnvironment describeCuda();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_CUDA_CUDA_H
