//===- IndexLock.h - The lock of an index -----------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_INDEXLOCK_H
#define ANNUDF_LIB_CAPI_INDEXLOCK_H

#include "annudf/Support/Fork.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace annudf::capi {

/// Many searches or one change at a time. A process that was forked has a lock of its own, as
/// threads that hold the parent's are not there, and knows whether one of them was changing the
/// index.
class IndexLock {
public:
  enum class Kind { Shared, Exclusive };

  /// The lock of one process.
  struct State {
    const uint64_t generation;
    const bool isAbandoned; ///< A thread of the parent was changing the index.
    State *const before;    ///< That of the parent.
    std::atomic<bool> isChanging{false};
    /// Taken first, and by a change until it has `lock`: a stream of searches without a gap cannot
    /// keep it out.
    std::mutex gate;
    std::shared_mutex lock;

    State(uint64_t generation, bool isAbandoned, State *before)
        : generation(generation), isAbandoned(isAbandoned), before(before) {}

    void take(Kind kind) {
      const std::lock_guard<std::mutex> first(gate);
      if (kind == Kind::Shared)
        return lock.lock_shared();
      lock.lock();
      isChanging = true;
    }
    /// Nothing where a callback has forked meanwhile and this is the child: the lock is the
    /// parent's.
    void give(Kind kind) {
      if (generation != forkGeneration())
        return;
      if (kind == Kind::Shared)
        return lock.unlock_shared();
      isChanging = false;
      lock.unlock();
    }
  };

  IndexLock() : current_(new State(forkGeneration(), false, nullptr)) {}
  IndexLock(const IndexLock &) = delete;
  IndexLock &operator=(const IndexLock &) = delete;
  ~IndexLock() {
    for (State *state = current_; state;) {
      State *const before = state->before;
      delete state;
      state = before;
    }
  }

  State &state() {
    State *found = current_;
    const uint64_t generation = forkGeneration();
    if (found->generation == generation)
      return *found;
    auto *made = new State(generation, found->isAbandoned || found->isChanging, found);
    if (current_.compare_exchange_strong(found, made))
      return *made;
    delete made; // Another thread was first.
    return *found;
  }

private:
  std::atomic<State *> current_;
};

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_INDEXLOCK_H
