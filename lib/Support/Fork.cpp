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

namespace annudf {
namespace {

/// Shared by whoever holds a BriefMutex, taken alone by a fork.
std::shared_mutex gate;
std::atomic<uint64_t> generation{0};

/// As the library is loaded, before any thread can fork. Without memory for the handlers nothing
/// else is lost than what they are for.
[[maybe_unused]] const int registered = ::pthread_atfork([] { gate.lock(); }, [] { gate.unlock(); },
                                                         [] {
                                                           // It is locked by a thread of the
                                                           // parent, as this one has another id.
                                                           new (&gate) std::shared_mutex;
                                                           ++generation;
                                                         });

} // namespace

uint64_t forkGeneration() noexcept { return generation.load(std::memory_order_relaxed); }

void BriefMutex::lock() {
  gate.lock_shared();
  mutex_.lock();
}

void BriefMutex::unlock() {
  mutex_.unlock();
  gate.unlock_shared();
}

} // namespace annudf
