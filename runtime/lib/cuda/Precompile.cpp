//===- Precompile.cpp - Kernels made ahead of searches --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/DiskCache.h"
#include "annudf/runtime/support/Parallel.h"
#include "cuda/link/LinkedScans.h"

#include <chrono>
#include <limits>

namespace annudf::runtime {

void cuda::addLinks(const std::vector<SearchStats> &costs, SearchStats &to) {
  bool any = false; // Made, or loaded for one more backend.
  for (const SearchStats &cost : costs) {
    to.links += cost.links, to.diskHits += cost.diskHits;
    any |= cost.links + cost.diskHits > 0 || cost.linkMs > 0;
    if (!cost.fault.empty())
      to.fault = cost.fault;
  }
  if (!any)
    to.linkMs = 0;
}

using namespace cuda;

namespace {

/// Why searches would not find all of these on disk, "" where they will. Asked of the disk when the
/// last is stored: one that fitted may have been dropped for one that came after it.
std::string whyNotKept(const DiskCache &disk,
                       const std::vector<std::shared_ptr<const LinkedScan>> &scans) {
  uint64_t bytes = 0;
  for (const auto &scan : scans)
    bytes += scan->cubin.size();
  for (const auto &scan : scans) {
    std::string fault;
    if (disk.load(scan->key, fault))
      continue;
    // What a variable should say keeps nothing from being stored.
    for (const std::string &why : {scan->fault, fault})
      if (!why.empty() && why != disk.complaint())
        return "cannot be kept on disk: " + why;
    return "are not all kept: the cache is limited to " + std::to_string(disk.mostBytes()) +
           " bytes, they take more than " + std::to_string(bytes) +
           "; raise ANNUDF_CACHE_MAX_BYTES";
  }
  return "";
}

/// \throws Error(Input) where there is none.
std::vector<ScanEntry> someEntriesFor(const Artifact &metric, int sm, ScanElements elements) {
  std::vector<ScanEntry> fit = entriesFor(metric, sm, elements);
  if (!fit.empty())
    return fit;
  int least = std::numeric_limits<int>::max();
  for (const CudaFamily *family : cuda::families())
    least = std::min(least, family->needs().arch);
  throw Error(ErrorKind::Input, "no kernel of '" + metric.manifest.name + "' runs on sm_" +
                                    std::to_string(sm) + "; the CUDA backend needs sm_" +
                                    std::to_string(least) + " or newer");
}

} // namespace

void precompileForCuda(const MetricView &metric, ScanElements elements, int sm,
                       SearchStats *stats) {
  checkElements(metric, elements);
  SearchStats local;
  SearchStats &report = stats ? *stats : local;
  report = {};
  const std::vector<ScanEntry> fit = someEntriesFor(metric.artifact, sm, elements);
  const auto refuse = [&](const std::string &why) {
    throw Error(ErrorKind::Environment, "kernels of '" + metric.artifact.manifest.name +
                                            "' for sm_" + std::to_string(sm) + " " + why);
  };
  const DiskCache disk = DiskCache::ofEnvironment();
  if (disk.folder().empty())
    refuse("cannot be kept on disk: " +
           (disk.complaint().empty() ? "ANNUDF_CACHE_DISABLE is set" : disk.complaint()));
  LinkedScans scans; // Not those of the process: what is in memory there may not be on disk.
  std::vector<SearchStats> costs(fit.size());
  std::vector<std::shared_ptr<const LinkedScan>> linked(fit.size());
  const auto start = std::chrono::steady_clock::now();
  parallelFor(static_cast<int>(fit.size()), static_cast<int64_t>(fit.size()), [&](int64_t i, int) {
    bool made = false;
    const auto at = static_cast<size_t>(i);
    const auto scan = scans.get(metric, {elements, sm, fit[at]}, made);
    costs[at].links = made && !scan->fromDisk, costs[at].diskHits = made && scan->fromDisk;
    costs[at].fault = scan->fault;
    linked[at] = scan;
  });
  report.linkMs = msSince(start);
  addLinks(costs, report);
  if (const std::string why = whyNotKept(disk, linked); !why.empty())
    refuse(why);
}

} // namespace annudf::runtime
