//===- OnceCache.h - Made once, shared, the oldest dropped ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_ONCECACHE_H
#define ANNUDF_RUNTIME_LIB_CUDA_ONCECACHE_H

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace annudf::runtime::cuda {

/// Values by key. However many threads ask for one key, one makes the value, off the
/// lock, and the others wait for it; other keys are not held up. A failure reaches
/// every thread that waited and is not kept.
template <class Value> class OnceCache {
public:
  using Pointer = std::shared_ptr<Value>;

  explicit OnceCache(size_t capacity) : capacity_(capacity) {}

  /// \param made  set to whether this very call made the value.
  Pointer get(const std::string &key, const std::function<Pointer()> &make, bool &made) {
    std::promise<Pointer> promise;
    std::shared_future<Pointer> future;
    uint64_t ticket = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = entries_.find(key);
      made = found == entries_.end();
      if (made) {
        dropOldest();
        ticket = ++clock_;
        future = promise.get_future().share();
        entries_[key] = {future, ticket, ticket};
      } else {
        found->second.used = ++clock_;
        future = found->second.value;
      }
    }
    if (!made)
      return future.get();
    try {
      promise.set_value(make());
    } catch (...) {
      promise.set_exception(std::current_exception());
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = entries_.find(key);
      if (found != entries_.end() && found->second.ticket == ticket) // Not a later try's entry.
        entries_.erase(found);
    }
    return future.get();
  }

  void erase(const std::string &key) {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.erase(key);
  }

  void clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();)
      it = ready(it->second) ? entries_.erase(it) : std::next(it);
  }

private:
  struct Entry {
    std::shared_future<Pointer> value;
    uint64_t ticket, used;
  };

  static bool ready(const Entry &entry) {
    return entry.value.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  /// Entries in the making are never dropped: a second thread would make them again.
  void dropOldest() {
    while (entries_.size() >= capacity_) {
      auto oldest = entries_.end();
      for (auto it = entries_.begin(); it != entries_.end(); ++it)
        if (ready(it->second) &&
            (oldest == entries_.end() || it->second.used < oldest->second.used))
          oldest = it;
      if (oldest == entries_.end())
        return;
      entries_.erase(oldest);
    }
  }

  const size_t capacity_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  uint64_t clock_ = 0;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_ONCECACHE_H
