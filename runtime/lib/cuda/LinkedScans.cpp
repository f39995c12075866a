//===- LinkedScans.cpp - Linked kernels, in memory and on disk ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkedScans.h"

#include "annudf/runtime/support/DiskCache.h"

#include <cstdlib>
#include <exception>
#include <unistd.h>

namespace annudf::runtime::cuda {

namespace {

std::shared_ptr<const LinkedScan> make(const MetricView &metric, const ScanTarget &target,
                                       const std::string &key) {
  auto scan = std::make_shared<LinkedScan>();
  const DiskCache disk = DiskCache::ofEnvironment();
  if (std::optional<std::string> kept = disk.load(key, scan->fault)) {
    scan->cubin = std::move(*kept);
    scan->fromDisk = true;
    return scan;
  }
  scan->fromDisk = false;
  scan->cubin = linkScanKernel(metric.artifact, target);
  (void)disk.store(key, scan->cubin, scan->fault);
  return scan;
}

} // namespace

LinkedScans &LinkedScans::get() {
  // Opened first, it is closed last: the thread has ended when nvJitLink's own exit handlers run.
  (void)linkerVersion();
  static LinkedScans scans;
  return scans;
}

LinkedScans::~LinkedScans() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    queue_.clear();
  }
  if (worker_.joinable())
    process_ == ::getpid() ? worker_.join() : worker_.detach();
}

std::shared_ptr<const LinkedScan> LinkedScans::get(const MetricView &metric,
                                                   const ScanTarget &target, bool &made) {
  const std::string entry = target.entry.kernel + std::string("/") + std::to_string(target.sm);
  return scans_.get(
      metric, target.elements, entry, [&] { return linkKey(metric, target); },
      [&](const std::string &key) { return make(metric, target, key); }, made);
}

void LinkedScans::ahead(const MetricView &metric, const std::vector<ScanTarget> &targets) {
  const char *off = std::getenv("ANNUDF_LINK_AHEAD");
  if (targets.empty() || (off && std::string_view(off) == "0"))
    return;
  auto copy = std::make_shared<Metric>(); // The caller's may be gone when its turn comes.
  copy->artifact = metric.artifact;
  copy->digest = metric.digest;
  copy->origin = metric.origin;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ending_ || (process_ != 0 && process_ != ::getpid()))
    return;
  for (const ScanTarget &target : targets)
    queue_.push_back({copy, metric.as, target});
  if (working_)
    return;
  if (worker_.joinable())
    worker_.join(); // It has nothing left to do but end.
  try {
    worker_ = std::thread([this] { work(); });
    process_ = ::getpid();
    working_ = true;
  } catch (const std::system_error &) { // No thread to be had: each is linked when it is needed.
    queue_.clear();
  }
}

void LinkedScans::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!queue_.empty()) {
    const Wanted next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      MetricView view = *next.metric;
      view.as = next.as;
      bool made = false;
      (void)get(view, next.target, made);
    } catch (const std::exception &) { // As ahead() says.
    }
    lock.lock();
  }
  working_ = false;
  idle_.notify_all();
}

void LinkedScans::finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [this] { return !working_; });
}

} // namespace annudf::runtime::cuda
