//===- KernelCache.cpp - Compiled scans, kept in memory -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCache.h"

namespace annudf::runtime::cpu {

KernelCache::Kernel KernelCache::get(const Metric &metric, annudf_element element, bool &compiled) {
  compiled = false;
  const Key key(metric.digest, element);
  std::promise<Kernel> promise;
  std::shared_future<Kernel> kernel;
  uint64_t ticket = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto found = entries_.find(key); found != entries_.end()) {
      uses_.splice(uses_.begin(), uses_, found->second.use);
      kernel = found->second.kernel;
    } else {
      // Whoever still scans with a dropped kernel, or waits for it, holds it.
      while (entries_.size() >= capacity_) {
        entries_.erase(uses_.back());
        uses_.pop_back();
      }
      uses_.push_front(key);
      ticket = ++tickets_;
      kernel = promise.get_future().share();
      entries_.emplace(key, Entry{kernel, uses_.begin(), ticket});
      compiled = true;
    }
  }
  if (!compiled)
    return kernel.get();
  try {
    promise.set_value(compileScan(metric, element));
  } catch (...) {
    promise.set_exception(std::current_exception());
    std::lock_guard<std::mutex> lock(mutex_);
    if (auto found = entries_.find(key);
        found != entries_.end() && found->second.ticket == ticket) {
      uses_.erase(found->second.use);
      entries_.erase(found);
    }
  }
  return kernel.get();
}

size_t KernelCache::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

} // namespace annudf::runtime::cpu
