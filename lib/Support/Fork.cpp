//===- Fork.cpp - Locks and threads in a process that was forked ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/Support/Fork.h"

#include <new>
#include <pthread.h>
#include <shared_mutex>
#include <thread>

namespace annudf {
namespace {

/// Shared by whoever holds a BriefMutex, taken alone by a fork.
std::shared_mutex gate;
/// A fork waits for the gate: who does not hold it yet lets it go first.
std::atomic<bool> isForking{false};
thread_local int held = 0; ///< By this thread.
std::atomic<uint64_t> generation{0};

void beforeFork() {
  isForking = true;
  gate.lock();
}

void afterFork() {
  gate.unlock();
  isForking = false;
}

void startChild() {
  isForking = false;
  new (&gate) std::shared_mutex; // It is locked by the parent's thread, which has another id.
  ++generation;
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

void BriefMutex::lock() {
  holdForks();
  mutex_.lock();
}

void BriefMutex::unlock() {
  mutex_.unlock();
  letFork();
}

} // namespace annudf
