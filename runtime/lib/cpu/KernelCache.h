//===- KernelCache.h - Compiled scans, kept in memory --------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_KERNELCACHE_H
#define ANNUDF_RUNTIME_LIB_CPU_KERNELCACHE_H

#include "Jit.h"

#include <future>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace annudf::runtime::cpu {

/// Scans by metric digest and element, the least recently used dropped beyond a
/// bound. However many threads ask for one key, one compiles and the rest wait for
/// it; other keys are not held up.
class KernelCache {
public:
  using Kernel = std::shared_ptr<const ScanKernel>;

  explicit KernelCache(size_t capacity = 64) : capacity_(capacity) {}

  /// \param compiled  set to whether this very call compiled the scan.
  /// \throws what compileScan throws, in every thread that waited. A failure is not
  /// kept: the next call tries again.
  Kernel get(const Metric &metric, annudf_element element, bool &compiled);

  size_t size() const;

private:
  using Key = std::pair<std::string, annudf_element>;
  struct Entry {
    std::shared_future<Kernel> kernel;
    std::list<Key>::iterator use;
    uint64_t ticket; ///< Tells an entry from a later one under the same key.
  };

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> uses_; ///< Most recent first.
  uint64_t tickets_ = 0;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_KERNELCACHE_H
