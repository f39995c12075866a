//===- LinkedScans.cpp - Linked kernels, in memory and on disk ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkedScans.h"

#include "annudf/runtime/support/DiskCache.h"

#include <array>
#include <atomic>

namespace annudf::runtime::cuda {

namespace {

/// Numbers of architectures have three digits at most.
std::array<std::atomic<bool>, 1000> linkedFor;

std::shared_ptr<const LinkedScan> make(const MetricView &metric, const ScanTarget &target,
                                       const std::string &key, bool ahead) {
  auto scan = std::make_shared<LinkedScan>();
  scan->key = key, scan->ahead = ahead;
  const DiskCache disk = DiskCache::ofEnvironment();
  if (std::optional<std::string> kept = disk.load(key, scan->fault)) {
    scan->cubin = std::move(*kept);
    scan->fromDisk = true;
    return scan;
  }
  scan->fromDisk = false;
  scan->cubin = linkScanKernel(metric.artifact, target);
  linkedFor.at(static_cast<size_t>(target.sm)) = true;
  (void)disk.store(key, scan->cubin, scan->fault);
  return scan;
}

} // namespace

bool hasLinkedFor(int sm) {
  return sm >= 0 && static_cast<size_t>(sm) < linkedFor.size() &&
         linkedFor[static_cast<size_t>(sm)];
}

LinkedScans &LinkedScans::get() {
  static LinkedScans scans;
  return scans;
}

namespace {

std::string entryOf(const ScanTarget &target) {
  return target.entry.kernel + std::string("/") + std::to_string(target.sm);
}

} // namespace

std::shared_ptr<const LinkedScan> LinkedScans::get(const MetricView &metric,
                                                   const ScanTarget &target, bool &made) {
  return scans_.get(
      metric, target.elements, entryOf(target), [&] { return linkKey(metric, target); },
      [&](const std::string &key) { return make(metric, target, key, false); }, made);
}

void LinkedScans::link(const MetricView &metric, const ScanTarget &target) {
  bool made = false;
  (void)scans_.get(
      metric, target.elements, entryOf(target), [&] { return linkKey(metric, target); },
      [&](const std::string &key) { return make(metric, target, key, true); }, made);
}

bool LinkedScans::has(const MetricView &metric, const ScanTarget &target) {
  if (scans_.find(metric, target.elements, entryOf(target)))
    return true;
  std::string fault; // Told by the search that links it.
  const std::string key = scans_.digest(metric, target.elements, entryOf(target),
                                        [&] { return linkKey(metric, target); });
  return DiskCache::ofEnvironment().load(key, fault).has_value();
}

void LinkedScans::drop(const std::shared_ptr<const LinkedScan> &scan) {
  if (scans_.erase(scan->key, scan)) // Else another thread has made it anew.
    DiskCache::ofEnvironment().drop(scan->key);
}

} // namespace annudf::runtime::cuda
