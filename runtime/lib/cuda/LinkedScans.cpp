//===- LinkedScans.cpp - Linked kernels, in memory and on disk ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkedScans.h"

#include "annudf/runtime/support/DiskCache.h"

namespace annudf::runtime::cuda {

namespace {

std::shared_ptr<const LinkedScan> make(const MetricView &metric, const ScanTarget &target,
                                       const std::string &key) {
  auto scan = std::make_shared<LinkedScan>();
  scan->key = key;
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
  static LinkedScans scans;
  return scans;
}

std::shared_ptr<const LinkedScan> LinkedScans::get(const MetricView &metric,
                                                   const ScanTarget &target, bool &made) {
  const std::string entry = target.entry.kernel + std::string("/") + std::to_string(target.sm);
  return scans_.get(
      metric, target.elements, entry, [&] { return linkKey(metric, target); },
      [&](const std::string &key) { return make(metric, target, key); }, made);
}

void LinkedScans::drop(const std::shared_ptr<const LinkedScan> &scan) {
  if (scans_.erase(scan->key, scan)) // Else another thread has made it anew.
    DiskCache::ofEnvironment().drop(scan->key);
}

} // namespace annudf::runtime::cuda
