//===- Workspace.cpp - Device memory of one search at a time --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

#include "kernels/cuda/common/ProductArgs.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace annudf::runtime::cuda {

namespace {

/// Places of a batch in the arena; each begins a 256-byte line.
class Layout {
public:
  explicit Layout(uint64_t base) : base_(base) {}
  /// `count` times `each` values of `bytes` bytes.
  uint64_t take(uint64_t count, uint64_t each, uint64_t bytes) {
    const uint64_t place = base_ + used_;
    uint64_t size = 0, end = 0;
    overflow_ |= __builtin_mul_overflow(count, each, &size) ||
                 __builtin_mul_overflow(size, bytes, &size) ||
                 __builtin_add_overflow(size, uint64_t(255), &size) ||
                 __builtin_add_overflow(used_, size / 256 * 256, &end);
    used_ = end;
    return place;
  }
  uint64_t used() const { return overflow_ ? kNoWorkspace : used_; }

private:
  uint64_t base_, used_ = 0;
  bool overflow_ = false;
};

annudf_workspace arrange(const BatchShape &shape, uint64_t base, uint64_t &bytes) {
  const uint64_t queries = shape.queries;
  Layout layout(base);
  annudf_workspace work = {};
  work.probes = layout.take(queries, shape.probes, 4);
  work.probeGroup = layout.take(queries, shape.probes, 4);
  work.groupCount = layout.take(queries, 1, 4);
  if (shape.tiling.queries) {
    work.rank = layout.take(queries, shape.probes, 4);
    work.pairs = layout.take(queries, shape.probes, 4);
    work.pairStart = layout.take(shape.lists + 1, 1, 4);
    work.tileStart = layout.take(shape.lists + 1, 1, 4);
    work.tiles = layout.take(mostTiles(shape), 1, 16);
    work.ticket = layout.take(1, 1, 4);
  }
  work.tileQueries = shape.tiling.queries;
  work.segmentGroups = shape.tiling.segmentGroups;
  if (shape.tiling.coordinates) {
    constexpr uint64_t kWords = ANNUDF_STAGED_DIMS;
    const uint64_t stride = (shape.dims + kWords - 1) / kWords * kWords;
    work.coordinates = layout.take(queries, stride, 4);
    work.coordinateStride = static_cast<uint32_t>(stride);
  }
  if (shape.tiling.bounds) {
    work.coordinateStride =
        static_cast<uint32_t>(shape.tiling.panels * ANNUDF_MATRIX_PANEL_DIMS / 2);
    work.coordinates = layout.take(queries, work.coordinateStride, 4);
    work.minima = layout.take(queries, 4, sizeof(float));
    constexpr uint64_t kGroups = ANNUDF_MATRIX_ROWS / 32; // A tile's; a list may end within one.
    if (shape.isFiltered)
      work.terms =
          layout.take(shape.allGroups / kGroups + shape.lists, ANNUDF_MATRIX_TERMS, sizeof(float));
  } else if (!shape.tiling.granules && !shape.tiling.ranks) {
    work.minima = layout.take(queries, shape.groups, 4);
  }
  if (shape.depth != 0)
    work.passing = layout.take(queries * shape.depth, shape.groups, 4);
  work.granules = shape.tiling.granules;
  const uint64_t words = shape.tiling.ranks           ? 0 // A group's.
                         : shape.tiling.endsInHooks() ? ANNUDF_GRANULES
                                                      : 32;
  const uint64_t ranked = shape.isRanked ? shape.lists : 0;
  uint64_t keys = 0;
  if (__builtin_mul_overflow(shape.groups, words, &keys))
    keys = ~uint64_t(0);      // Which take() cannot count either.
  if (shape.tiling.queries) { // Lists are chosen, and pairs sorted, before a scan writes keys.
    work.coarse = work.keys = layout.take(queries, std::max(ranked, keys), 4);
  } else {
    work.coarse = layout.take(queries, ranked, 4);
    work.keys = layout.take(queries, keys, 4);
  }
  work.stride = static_cast<uint32_t>(shape.groups);
  work.nProbes = static_cast<uint32_t>(shape.probes);
  bytes = layout.used();
  return work;
}

} // namespace

uint64_t mostTiles(const BatchShape &shape) {
  // For n pairs of a list of g groups, each tile but the last of a segment has tiling.queries of
  // them: less than (n / queries + 1) * (g / segmentGroups + 1). Added up over the lists:
  const uint64_t queries = shape.tiling.queries, groups = shape.tiling.segmentGroups;
  const uint64_t segments = shape.groups / groups + shape.probes; // One query's.
  const auto all = static_cast<unsigned __int128>(shape.queries) * segments;
  const auto most = std::min(all, all / queries + shape.allGroups / groups + shape.lists);
  return static_cast<uint64_t>(std::min<unsigned __int128>(most, ~uint64_t(0)));
}

uint64_t workspaceBytes(const BatchShape &shape) {
  uint64_t bytes = 0;
  (void)arrange(shape, 0, bytes);
  return bytes;
}

uint64_t batchQueries(BatchShape shape, uint64_t queries, uint64_t limit, uint64_t atOnce) {
  // The bytes grow with the queries, so the most that fit are found by halving; a formula
  // of bytes per query would be one more place that knows the layout.
  const uint64_t mostPairs =
      std::numeric_limits<uint32_t>::max() / std::max<uint64_t>(1, shape.probes);
  uint64_t fits = 1,
           most = std::clamp<uint64_t>(std::min({queries, atOnce, mostPairs}), 1, kMostQueries);
  while (fits < most) {
    shape.queries = fits + (most - fits + 1) / 2;
    if (workspaceBytes(shape) <= limit)
      fits = shape.queries;
    else
      most = shape.queries - 1;
  }
  const uint64_t batches = queries / fits + (queries % fits != 0);
  return batches ? queries / batches + (queries % batches != 0) : 1;
}

AllowedWorkspace allowedWorkspace(uint64_t deviceBytes) {
  const char *value = std::getenv("ANNUDF_WORKSPACE_MIB");
  if (!value)
    return {std::clamp(deviceBytes / 32, kUsualWorkspace, kMostWorkspace)};
  const std::string_view text = value;
  uint64_t asked = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), asked);
  if (error != std::errc() || end != text.end() || asked < 1 || asked > kMostWorkspaceMiB)
    throw Error(ErrorKind::Environment, "ANNUDF_WORKSPACE_MIB is '" + std::string(text) +
                                            "'; it must be a whole number of MiB from 1 to " +
                                            std::to_string(kMostWorkspaceMiB));
  return {asked << 20, true};
}

uint64_t workspaceLimit(uint64_t allowed, uint64_t available) {
  return std::min(allowed, std::max(kUsualWorkspace, available / 2));
}

Workspace::Workspace(std::shared_ptr<const Context> context, uint64_t allowed)
    : context_(std::move(context)), allowed_(allowed) {
  ContextScope scope(*context_);
  ANNUDF_CUDA(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
  ANNUDF_CUDA(cuEventCreate, &done_, CU_EVENT_DISABLE_TIMING);
}

Workspace::~Workspace() {
  const Driver &driver = Driver::get();
  if (driver.cuCtxPushCurrent(context_->handle()) != CUDA_SUCCESS)
    return;
  if (done_) {
    (void)driver.cuEventSynchronize(done_);
    (void)driver.cuEventDestroy(done_);
  }
  if (stream_)
    (void)driver.cuStreamDestroy(stream_);
  CUcontext popped;
  (void)driver.cuCtxPopCurrent(&popped);
}

bool Workspace::grow(std::unique_ptr<Buffer> &buffer, size_t bytes, Buffer::Kind kind,
                     const char *what) {
  if (buffer && buffer->size() >= bytes)
    return false;
  ANNUDF_CUDA(cuEventSynchronize, done_); // The search before may still use it.
  buffer.reset();                         // First, so that both need not fit.
  // For a batch that is a little larger, but not beyond what is allowed.
  constexpr size_t kMostAhead = size_t(4) << 20;
  const size_t ahead = bytes < allowed_ ? std::min({bytes / 8, kMostAhead, allowed_ - bytes}) : 0;
  buffer = std::make_unique<Buffer>(context_, bytes + ahead, kind, what);
  return true;
}

NanCounter &Workspace::nan() {
  if (!nan_)
    nan_ = std::make_unique<NanCounter>(context_);
  return *nan_;
}

annudf_workspace Workspace::prepare(const BatchShape &shape) {
  uint64_t bytes = workspaceBytes(shape);
  if (bytes == kNoWorkspace)
    throw Error(ErrorKind::Environment,
                "a batch of " + std::to_string(shape.queries) + " queries, " +
                    std::to_string(shape.lists) + " lists and " + std::to_string(shape.groups) +
                    " groups of rows a query needs more workspace than 64 bits can count");
  grow(arena_, bytes, Buffer::Kind::Device, "a search's workspace");
  annudf_workspace work = arrange(shape, arena_->device(), bytes);
  constexpr uint64_t kSorted = ANNUDF_FEW_QUERIES / ANNUDF_FEW_TILE_QUERIES * 4;
  constexpr uint64_t kCounts = kSorted + 4;
  if (grow(counts_, kCounts + shape.lists * 4, Buffer::Kind::Device,
           "a search's counts")) {                                  // Later, kernels leave
    ANNUDF_CUDA(cuMemsetD8, counts_->device(), 0, counts_->size()); // it zero.
    ANNUDF_CUDA(cuStreamSynchronize, nullptr); // Other streams do not wait for the default one.
  }
  if (shape.queries <= ANNUDF_FEW_QUERIES && ANNUDF_CHOSEN_BY_WARP(shape.lists, shape.probes))
    work.arrived = counts_->device();
  if (shape.tiling.queries) {
    work.sorted = counts_->device() + kSorted;
    work.listPairs = counts_->device() + kCounts;
  }
  return work;
}

namespace {
constexpr const char *kStaged = "a search's queries and results";
} // namespace

Buffer &Workspace::staging(size_t bytes) {
  grow(staging_, bytes, Buffer::Kind::Device, kStaged);
  return *staging_;
}

Buffer &Workspace::pinned(size_t bytes) {
  grow(pinned_, bytes, Buffer::Kind::Pinned, kStaged);
  return *pinned_;
}

std::unique_ptr<WorkspacePool::Lease> WorkspacePool::acquire(bool own, CUstream stream) {
  std::unique_ptr<Workspace> workspace;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    returned_.wait(lock, [&] { return !free_.empty() || lent_ < kMost; });
    auto choice = free_.end();
    if (!own)
      choice =
          std::find_if(free_.begin(), free_.end(), [&](auto &w) { return w->last_ == stream; });
    if (choice == free_.end())
      choice = std::find_if(free_.begin(), free_.end(), [](auto &w) { return w->idle(); });
    if (choice == free_.end() && lent_ + free_.size() >= kMost)
      choice = free_.begin();
    if (choice != free_.end()) {
      workspace = std::move(*choice);
      free_.erase(choice);
    }
    ++lent_;
  }
  try {
    if (!workspace)
      workspace = std::make_unique<Workspace>(context_, allowed_.bytes);
    if (workspace->idle())
      workspace->kept_.clear();
    const CUstream on = own ? workspace->stream() : stream;
    ANNUDF_CUDA(cuStreamWaitEvent, on, workspace->done_, 0);
    workspace->last_ = on;
    return std::make_unique<Lease>(*this, std::move(workspace), on);
  } catch (...) {
    std::lock_guard<std::mutex> lock(mutex_);
    --lent_;
    returned_.notify_one();
    throw;
  }
}

namespace {

uint64_t memoryOf(const Context &context) {
  const ContextScope scope(context);
  size_t available = 0, total = 0;
  ANNUDF_CUDA(cuMemGetInfo, &available, &total);
  return total;
}

} // namespace

WorkspacePool::WorkspacePool(std::shared_ptr<const Context> context)
    : context_(std::move(context)), allowed_(allowedWorkspace(memoryOf(*context_))) {}

uint64_t WorkspacePool::limit() {
  ContextScope scope(*context_);
  size_t available = 0, total = 0;
  ANNUDF_CUDA(cuMemGetInfo, &available, &total);
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &workspace : free_)
    available += workspace->arenaBytes();
  return workspaceLimit(allowed_.bytes, available);
}

void WorkspacePool::Lease::keep(std::shared_ptr<const void> value) {
  auto &kept = workspace_->kept_;
  if (std::find(kept.begin(), kept.end(), value) == kept.end())
    kept.push_back(std::move(value));
}

void WorkspacePool::Lease::finish() {
  ANNUDF_CUDA(cuEventRecord, workspace_->done_, stream_);
  // Many searches on one stream with ever new captures must not pile up.
  if (workspace_->kept_.size() > 64) {
    ANNUDF_CUDA(cuEventSynchronize, workspace_->done_);
    workspace_->kept_.clear();
  }
  finished_ = true;
}

WorkspacePool::Lease::~Lease() {
  if (!finished_) { // A search broke off: its counts may not be zero, so it is not reused.
    const Driver &driver = Driver::get();
    if (driver.cuCtxPushCurrent(pool_.context_->handle()) == CUDA_SUCCESS) {
      (void)driver.cuStreamSynchronize(stream_);
      CUcontext popped;
      (void)driver.cuCtxPopCurrent(&popped);
    }
    workspace_.reset();
  }
  std::lock_guard<std::mutex> lock(pool_.mutex_);
  --pool_.lent_;
  if (workspace_)
    pool_.free_.push_back(std::move(workspace_));
  pool_.returned_.notify_one();
}

} // namespace annudf::runtime::cuda
