//===- SpinLock.h - A lock of a byte, held for moments -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_SEARCH_SPINLOCK_H
#define ANNUDF_RUNTIME_LIB_CPU_SEARCH_SPINLOCK_H

#include <atomic>
#include <thread>

namespace annudf::runtime::cpu {

/// Held for some tens of nanoseconds; two threads seldom meet at one query.
class SpinLock {
public:
  explicit SpinLock(std::atomic_flag &flag) : flag_(flag) {
    for (int spins = 0; flag_.test_and_set(std::memory_order_acquire); ++spins)
      if (spins > 64)
        std::this_thread::yield(); // The holder may have been preempted.
  }
  SpinLock(const SpinLock &) = delete;
  SpinLock &operator=(const SpinLock &) = delete;
  ~SpinLock() { flag_.clear(std::memory_order_release); }

private:
  std::atomic_flag &flag_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_SEARCH_SPINLOCK_H
