//===- Fork.h - Locks and threads in a process that was forked --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child of fork() has one thread. What the others were doing stays half done there: a lock that
// one of them held is never released, and a pool has no threads. So every lock of annudf that a
// child may meet on a CPU is one of those below, or belongs to an index (lib/CAPI/IndexLock.h).
// std::call_once needs none of them: glibc does it again in a child whose parent was in the middle.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SUPPORT_FORK_H
#define ANNUDF_SUPPORT_FORK_H

#include <atomic>
#include <cstdint>
#include <mutex>

namespace annudf {

/// How many forks lie between this process and the one that loaded annudf.
uint64_t forkGeneration() noexcept;

/// While one lives, fork() waits. It lives for moments only, never while its thread waits, opens a
/// library, forks, or calls back. A function that makes a static at its first use holds one: the
/// static's own lock would stay locked in a child that was forked meanwhile.
class NoFork {
public:
  NoFork() noexcept;
  ~NoFork();
  NoFork(const NoFork &) = delete;
  NoFork &operator=(const NoFork &) = delete;
};

/// A mutex that a fork finds free, so that the child has it free and what it guards whole. It is
/// held as briefly as a NoFork lives.
class BriefMutex {
public:
  void lock();
  void unlock();

private:
  std::mutex mutex_;
};

/// While one lives, fork() in another thread waits, a minute at most: LLVM, MLIR and CUDA's
/// compilers have locks and tables of their own, which a child would find locked and half made. May
/// live long, and its thread may fork. Made before any lock that another user of a compiler takes.
class CompilerUse {
public:
  CompilerUse();
  ~CompilerUse();
  CompilerUse(const CompilerUse &) = delete;
  CompilerUse &operator=(const CompilerUse &) = delete;
};

/// Within a CompilerUse: forks need not wait for this thread, which holds no lock of a compiler.
class CompilerPause {
public:
  CompilerPause();
  ~CompilerPause();
  CompilerPause(const CompilerPause &) = delete;
  CompilerPause &operator=(const CompilerPause &) = delete;

private:
  const int uses_;
};

/// An object that every process makes for itself: a child of fork() leaves its parent's as it is.
/// For mutexes that are held for long, and for what has threads. Never destroyed, as threads may
/// use it until the process ends.
template <class T> class PerProcess {
public:
  T &get() {
    const uint64_t generation = forkGeneration();
    Held *found = held_.load(std::memory_order_acquire);
    if (found && found->generation == generation)
      return found->value;
    auto *made = new Held{generation, {}};
    if (held_.compare_exchange_strong(found, made))
      return made->value;
    delete made; // Another thread was first.
    return found->value;
  }

private:
  struct Held {
    uint64_t generation;
    T value;
  };
  std::atomic<Held *> held_{nullptr};
};

} // namespace annudf

#endif // ANNUDF_SUPPORT_FORK_H
