//===- Workspace.h - Device memory of one search at a time ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_WORKSPACE_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_WORKSPACE_H

#include "NanCounter.h"
#include "cuda/driver/Driver.h"
#include "cuda/plan/Families.h"
#include "kernels/cuda/common/ScanArgs.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace annudf::runtime::cuda {

/// What a batch needs room for.
struct BatchShape {
  uint64_t queries = 0, lists = 0, probes = 0;
  uint64_t groups = 0;    ///< Groups of one query's probes, at most.
  uint64_t allGroups = 0; ///< Groups of the index.
  uint64_t dims = 0;
  bool isFiltered = false;
  uint64_t depth = 0;   ///< DevicePredicate::depth; 0: there is no predicate.
  bool isRanked = true; ///< Whether lists have centers, whose keys need room.
  Tiling tiling;
};

/// Most tiles a batch can have: every list may leave the last tile of each of its segments part
/// empty.
uint64_t mostTiles(const BatchShape &shape);
/// What workspaceBytes says of a batch whose bytes 64 bits cannot count.
constexpr uint64_t kNoWorkspace = ~uint64_t(0);
/// Bytes of the workspace of a batch. Never less for more queries.
uint64_t workspaceBytes(const BatchShape &shape);

/// Most queries of a launch: those of annudf_coarse_many, of whose blocks a grid has up to 65535
/// in y.
constexpr uint64_t kMostQueries = uint64_t(65535) * ANNUDF_MANY_TILE_QUERIES;
/// Queries of one batch: `queries` cut into equal batches, as few as keep the workspace of
/// each within `limit` bytes, though one query may need more by itself.
/// \param shape   of any batch; its `queries` do not matter.
/// \param atOnce  queries of a batch at most; their pairs with lists are counted in 32 bits, too.
/// \returns 1 to kMostQueries.
uint64_t batchQueries(BatchShape shape, uint64_t queries, uint64_t limit,
                      uint64_t atOnce = kMostQueries);

/// What a search takes at most for more than one query where nobody asks for more.
constexpr uint64_t kMostWorkspace = uint64_t(4) << 30;
/// Bytes of workspace that a search may take.
struct AllowedWorkspace {
  uint64_t bytes = 0;
  bool isAsked = false; ///< Whether somebody said so.
};
/// What ANNUDF_WORKSPACE_MIB says, else a 32nd of the device's memory between kUsualWorkspace and
/// kMostWorkspace.
/// \throws Error(Environment) where it says no whole number from 1 to kMostWorkspaceMiB.
AllowedWorkspace allowedWorkspace(uint64_t deviceBytes);
constexpr uint64_t kMostWorkspaceMiB = uint64_t(1) << 20;
/// Bytes that the workspace of a search may take: what is allowed, but beyond kUsualWorkspace no
/// more than half of what is `available`.
uint64_t workspaceLimit(uint64_t allowed, uint64_t available);

/// Reused from search to search, so that a search allocates nothing. Not thread-safe:
/// a pool lends it.
class Workspace {
public:
  /// \param allowed  bytes, of allowedWorkspace().
  Workspace(std::shared_ptr<const Context> context, uint64_t allowed);
  ~Workspace();

  /// Its own stream, for searches whose caller brings none.
  CUstream stream() const { return stream_; }

  /// Addresses for a batch, growing if need be. A batch before must be on the same
  /// stream, or done.
  annudf_workspace prepare(const BatchShape &shape);
  /// Staging of the host search: queries, ids and distances, on the device and pinned.
  Buffer &staging(size_t bytes);
  Buffer &pinned(size_t bytes);
  /// The counter of searches that are waited for.
  NanCounter &nan();
  /// Device memory for all batches.
  uint64_t arenaBytes() const { return arena_ ? arena_->size() : 0; }

private:
  friend class WorkspacePool;
  bool idle() const { return Driver::get().cuEventQuery(done_) == CUDA_SUCCESS; }
  /// Replaces a buffer that is too small, contents lost. \returns whether it did.
  bool grow(std::unique_ptr<Buffer> &buffer, size_t bytes, Buffer::Kind kind, const char *what);

  std::shared_ptr<const Context> context_;
  const uint64_t allowed_;
  CUstream stream_ = nullptr, last_ = nullptr;
  CUevent done_ = nullptr; ///< The end of the last search.
  std::unique_ptr<Buffer> arena_, counts_, staging_, pinned_;
  std::unique_ptr<NanCounter> nan_;
  std::vector<std::shared_ptr<const void>> kept_;
};

/// Lends workspaces to threads and streams. A workspace whose search still runs on
/// another stream is lent only when all are busy, and is then waited for on the device.
class WorkspacePool {
public:
  explicit WorkspacePool(std::shared_ptr<const Context> context);
  /// allowedWorkspace() of the device.
  const AllowedWorkspace &allowed() const { return allowed_; }

  /// Taken back by the destructor: to the pool after finish(), destroyed otherwise.
  class Lease {
  public:
    Lease(WorkspacePool &pool, std::unique_ptr<Workspace> workspace, CUstream stream)
        : pool_(pool), workspace_(std::move(workspace)), stream_(stream) {}
    ~Lease();
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    Workspace &operator*() const { return *workspace_; }
    Workspace *operator->() const { return workspace_.get(); }
    CUstream stream() const { return stream_; }
    /// Keeps what the search reads alive until it is done.
    void keep(std::shared_ptr<const void> value);
    /// The search is enqueued in full.
    void finish();

  private:
    WorkspacePool &pool_;
    std::unique_ptr<Workspace> workspace_;
    CUstream stream_;
    bool finished_ = false;
  };

  /// \param own  search on the workspace's own stream instead of `stream`.
  std::unique_ptr<Lease> acquire(bool own, CUstream stream);
  /// workspaceLimit() of what is allowed and the device as it is now; what waits in the pool is
  /// available. Some microseconds, as it asks the driver.
  uint64_t limit();

private:
  static constexpr size_t kMost = 4; ///< More searches at a time only share the GPU.

  const std::shared_ptr<const Context> context_;
  const AllowedWorkspace allowed_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Workspace>> free_;
  size_t lent_ = 0;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_WORKSPACE_H
