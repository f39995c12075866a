//===- OnceCache.h - Made once, shared, the oldest dropped ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_SUPPORT_ONCECACHE_H
#define ANNUDF_RUNTIME_SUPPORT_ONCECACHE_H

#include "annudf/Support/Fork.h"

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>

namespace annudf::runtime {

/// Values by key, the least recently used dropped beyond `capacity`. However many
/// threads ask for one key, one makes the value, off the lock, and the others wait for
/// it; other keys are not held up. Thread-safe. A process that was forked makes anew what another
/// thread of its parent was making.
template <class Key, class Value> class OnceCache {
public:
  using Pointer = std::shared_ptr<Value>;

  /// \param capacity  values to keep; exceeded only while that many are in the making.
  explicit OnceCache(size_t capacity) : capacity_(capacity) {}

  /// \param make  \returns the value as a Pointer.
  /// \param made  set to whether this very call made the value.
  /// \throws what `make` throws, in every thread that waited. A failure is not kept:
  /// the next call tries again.
  template <class Make> Pointer get(const Key &key, Make &&make, bool &made) {
    std::promise<Pointer> promise;
    std::shared_future<Pointer> future;
    uint64_t ticket = 0;
    {
      Entries dropped; // Their values end when the lock is free.
      std::lock_guard<BriefMutex> lock(mutex_);
      auto found = entries_.find(key);
      if (found != entries_.end() && hasNoMaker(found->second)) {
        entries_.erase(found);
        found = entries_.end();
      }
      made = found == entries_.end();
      if (made) {
        dropOldest(dropped);
        ticket = ++clock_;
        future = promise.get_future().share();
        entries_.emplace(key, Entry{future, ticket, ticket, forkGeneration()});
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
      { // Before any thread hears of the failure: its next try must not find it.
        std::lock_guard<BriefMutex> lock(mutex_);
        auto found = entries_.find(key);
        if (found != entries_.end() && found->second.ticket == ticket) // Not a later try's entry.
          entries_.erase(found);
      }
      promise.set_exception(std::current_exception());
    }
    return future.get();
  }

  /// The value if it is made, else null, without waiting.
  Pointer find(const Key &key) {
    std::lock_guard<BriefMutex> lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !ready(found->second))
      return nullptr;
    found->second.used = ++clock_;
    return found->second.value.get();
  }

  /// Forgets one key. Whoever waits for its value still gets it.
  void erase(const Key &key) {
    typename Entries::node_type dropped; // Its value ends when the lock is free.
    std::lock_guard<BriefMutex> lock(mutex_);
    dropped = entries_.extract(key);
  }

  /// Forgets one key if that is its value. \returns whether it was.
  bool erase(const Key &key, const Pointer &value) {
    // The caller has the value, so it does not end here.
    std::lock_guard<BriefMutex> lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !ready(found->second) || found->second.value.get() != value)
      return false;
    entries_.erase(found);
    return true;
  }

  /// Forgets every value that is made.
  void clear() {
    Entries dropped;
    std::lock_guard<BriefMutex> lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();)
      if (const auto here = it++; ready(here->second))
        dropped.insert(entries_.extract(here));
  }

  /// Entries, those in the making too.
  size_t size() const {
    std::lock_guard<BriefMutex> lock(mutex_);
    return entries_.size();
  }

private:
  struct Entry {
    std::shared_future<Pointer> value;
    uint64_t ticket; ///< Tells an entry from a later one under the same key.
    uint64_t used;
    uint64_t generation; ///< The process in which it is being made.
  };
  using Entries = std::map<Key, Entry>;

  static bool ready(const Entry &entry) {
    return entry.value.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  /// Who was making it is a thread of the process that this one was forked from.
  static bool hasNoMaker(const Entry &entry) {
    return entry.generation != forkGeneration() && !ready(entry);
  }

  /// Entries in the making are never dropped: a second thread would make them again.
  void dropOldest(Entries &dropped) {
    while (entries_.size() >= capacity_) {
      auto oldest = entries_.end();
      for (auto it = entries_.begin(); it != entries_.end(); ++it)
        if (ready(it->second) &&
            (oldest == entries_.end() || it->second.used < oldest->second.used))
          oldest = it;
      if (oldest == entries_.end())
        return;
      dropped.insert(entries_.extract(oldest));
    }
  }

  const size_t capacity_;
  mutable BriefMutex mutex_;
  Entries entries_;
  uint64_t clock_ = 0;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_SUPPORT_ONCECACHE_H
