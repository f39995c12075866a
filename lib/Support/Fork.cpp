//===- Fork.cpp - Locks and threads in a process that was forked ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Fork.h"

#include <chrono>
#include <condition_variable>
#include <new>
#include <pthread.h>
#include <shared_mutex>
#include <thread>
#include <utility>

namespace annudf {
namespace {

/// Shared by whoever holds a BriefMutex, taken alone by a fork.
std::shared_mutex gate;
/// A fork waits for the gate: who does not hold it yet lets it go first.
std::atomic<bool> isForking{false};
thread_local int held = 0; ///< By this thread.
std::atomic<uint64_t> generation{0};

/// Threads that use a compiler, and forks that wait for them.
struct Compilers {
  std::mutex mutex; ///< Held over a fork.
  std::condition_variable changed;
  int users = 0;
  int forks = 0; ///< Who begins to use a compiler lets them go first.
};
union Undestroyed { // Threads outlive statics.
  Compilers value;
  Undestroyed() noexcept : value() {}
  ~Undestroyed() {}
} undestroyed;
Compilers &compilers = undestroyed.value;
thread_local int uses = 0; ///< By this thread.
constexpr std::chrono::seconds kLongestWait{60};

void beforeFork() {
  std::unique_lock lock(compilers.mutex);
  ++compilers.forks;
  if (uses > 0) { // A thread that forks amid its own use is not to be waited for.
    --compilers.users;
    compilers.changed.notify_all();
  }
  compilers.changed.wait_for(lock, kLongestWait, [] { return compilers.users == 0; });
  lock.release();
  isForking = true;
  gate.lock();
}

void afterFork() {
  gate.unlock();
  isForking = false;
  --compilers.forks;
  compilers.users += uses > 0;
  compilers.changed.notify_all();
  compilers.mutex.unlock();
}

void startChild() {
  isForking = false;
  // They are locked by the parent's thread, which has another id.
  new (&gate) std::shared_mutex;
  new (&compilers) Compilers;
  compilers.users = uses > 0;
  ++generation;
}

/// \returns the uses by this thread before.
int setUses(int now) {
  const int before = std::exchange(uses, now);
  if ((before > 0) == (now > 0))
    return before;
  std::unique_lock lock(compilers.mutex);
  if (now > 0)
    compilers.changed.wait(lock, [] { return compilers.forks == 0; });
  compilers.users += now > 0 ? 1 : -1;
  compilers.changed.notify_all();
  return before;
}

/// As the library is loaded, before any thread can fork. Without memory for the handlers nothing
/// else is lost than what they are for.
[[maybe_unused]] const int registered = ::pthread_atfork(beforeFork, afterFork, startChild);

} // namespace

uint64_t forkGeneration() noexcept { return generation.load(std::memory_order_relaxed); }

static void holdForks() noexcept {
  if (held++ != 0)
    return;
  while (isForking.load(std::memory_order_relaxed))
    std::this_thread::yield();
  gate.lock_shared();
}

static void letFork() noexcept {
  if (--held == 0)
    gate.unlock_shared();
}

NoFork::NoFork() noexcept { holdForks(); }
NoFork::~NoFork() { letFork(); }

CompilerUse::CompilerUse() { setUses(uses + 1); }
CompilerUse::~CompilerUse() { setUses(uses - 1); }

CompilerPause::CompilerPause() : uses_(setUses(0)) {}
CompilerPause::~CompilerPause() { setUses(uses_); }

void BriefMutex::lock() {
  holdForks();
  mutex_.lock();
}

void BriefMutex::unlock() {
  mutex_.unlock();
  letFork();
}

} // namespace annudf
