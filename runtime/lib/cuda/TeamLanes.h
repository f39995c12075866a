//===- TeamLanes.h - What a search by several devices works in --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_TEAMLANES_H
#define ANNUDF_RUNTIME_LIB_CUDA_TEAMLANES_H

#include "cuda/driver/Driver.h"
#include "cuda/driver/PinnedPieces.h"

#include <memory>
#include <mutex>
#include <vector>

namespace annudf::runtime::cuda {

/// An event of a device, without a time.
class Event {
public:
  explicit Event(std::shared_ptr<const Context> context);
  ~Event();
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  CUevent get() const { return event_; }
  /// With the context current.
  void record(CUstream stream) const { ANNUDF_CUDA(cuEventRecord, event_, stream); }
  /// Makes a stream of any device wait.
  void holdBack(CUstream stream) const { ANNUDF_CUDA(cuStreamWaitEvent, stream, event_, 0); }

private:
  const std::shared_ptr<const Context> context_;
  CUevent event_ = nullptr;
};

/// Memory that grows.
class Room {
public:
  explicit Room(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  /// What was there is lost. \pre nothing under way uses it.
  void reserve(size_t bytes);
  uint64_t at() const { return buffer_ ? buffer_->device() : 0; }
  bool has(size_t bytes) const { return buffer_ && buffer_->size() >= bytes; }

private:
  const std::shared_ptr<const Context> context_;
  std::unique_ptr<Buffer> buffer_;
};

/// A device's stream and memory for its part of one search at a time.
struct Lane {
  explicit Lane(std::shared_ptr<const Context> of)
      : context(std::move(of)), stream(context), queries(context), lists(context), ids(context),
        distances(context), ranked(context), done(context) {}
  const std::shared_ptr<const Context> context;
  const OwnStream stream;
  Room queries, lists, ids, distances;
  const Event ranked, done;
};

/// The lanes of one search, and on the first device the results of all.
struct Lanes {
  explicit Lanes(const std::vector<std::shared_ptr<const Context>> &contexts);
  /// Bytes of each room.
  struct Sizes {
    size_t queries = 0, lists = 0, ids = 0, distances = 0, mergedIds = 0, mergedDistances = 0;
  };
  ~Lanes(); ///< Waits for the last search.
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;
  /// Waits for the search before where a room has to grow.
  void reserve(const Sizes &sizes);

  std::vector<std::unique_ptr<Lane>> of;
  Room mergedIds, mergedDistances;
  const Event begun, ended; ///< The first device has both.
};

/// Where arrays of the host are staged on their way to the first device and back.
struct Stage {
  explicit Stage(const std::shared_ptr<const Context> &of)
      : context(of), device(of), stream(context) {}
  /// Makes room for so many bytes on both sides. \pre nothing is under way.
  void reserve(size_t bytes);

  const std::shared_ptr<const Context> context;
  Room device;
  std::unique_ptr<Buffer> pinned;
  const OwnStream stream;
};

/// Lends a T, made where all are lent.
template <class T> class Lending {
public:
  std::unique_ptr<T> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty())
      return nullptr;
    std::unique_ptr<T> one = std::move(free_.back());
    free_.pop_back();
    return one;
  }
  void give(std::unique_ptr<T> one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(one));
  }

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

/// Lends lanes to searches; there are as many as searches at a time.
class LanesPool {
public:
  explicit LanesPool(std::vector<std::shared_ptr<const Context>> contexts)
      : contexts_(std::move(contexts)) {}

  /// Given back by the destructor, unless the search broke off: then they end.
  class Lease {
  public:
    Lease(LanesPool &pool, std::unique_ptr<Lanes> lanes) : pool_(pool), lanes_(std::move(lanes)) {}
    ~Lease();
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    Lanes &operator*() const { return *lanes_; }
    Lanes *operator->() const { return lanes_.get(); }
    void finish() { isDone_ = true; }

  private:
    LanesPool &pool_;
    std::unique_ptr<Lanes> lanes_;
    bool isDone_ = false;
  };
  std::unique_ptr<Lease> acquire();

private:
  const std::vector<std::shared_ptr<const Context>> contexts_;
  Lending<Lanes> free_;
};

/// Lets devices read each other's memory where they can; else copies go by way of the host.
void connectPeers(const std::vector<std::shared_ptr<const Context>> &contexts);

/// Enqueues a copy from a device's memory to that of another, or of the same.
void copyBetween(const Context &toDevice, uint64_t to, const Context &fromDevice, uint64_t from,
                 size_t bytes, CUstream stream);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_TEAMLANES_H
