//===- LoadedScans.cpp - The linked kernels of one backend ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedScans.h"

#include "annudf/runtime/support/Clock.h"

namespace annudf::runtime::cuda {

FamilyKernels LoadedScans::get(const MetricView &metric, ScanElements elements,
                               const CudaFamily &family, const Workload &work, SearchStats &stats) {
  FamilyKernels all = {&family, {}};
  for (const ScanEntry &entry : family.entriesFor(work))
    all.kernels.push_back(get(metric, elements, entry, stats));
  return all;
}

std::shared_ptr<const ScanKernel> LoadedScans::get(const MetricView &metric, ScanElements elements,
                                                   const ScanEntry &entry, SearchStats &stats) {
  const ScanTarget target = {elements, context_->sm(), entry};
  const auto start = std::chrono::steady_clock::now();
  bool made = false;
  auto kernel = scans_.get(
      metric, target.elements, target.entry.kernel, [&] { return linkKey(metric, target); },
      [&](const std::string &) {
        bool linked = false; // Not where another device of the kind did it.
        std::shared_ptr<const ScanKernel> kernel;
        const auto scan =
            LinkedScans::get().use(metric, target, linked, [&](const LinkedScan &linked) {
              kernel =
                  std::make_shared<const ScanKernel>(context_, linked.cubin, target.entry.kernel);
              checkContract(metric, kernel->readContract(context_));
            });
        if (linked)
          (scan->fromDisk ? stats.diskHits : stats.links) += 1;
        // Nobody was told yet of a link in the background. A later one does not mend it.
        if ((linked || scan->ahead) && !scan->fault.empty())
          stats.fault = scan->fault;
        return kernel;
      },
      made);
  if (made)
    stats.linkMs += msSince(start);
  return kernel;
}

std::optional<FamilyKernels> LoadedScans::loaded(const CudaFamily &family, const MetricView &metric,
                                                 ScanElements elements, const Workload &work) {
  FamilyKernels all = {&family, {}};
  for (const ScanEntry &entry : family.entriesFor(work)) {
    auto kernel = scans_.find(metric, elements, entry.kernel);
    if (!kernel)
      return std::nullopt;
    all.kernels.push_back(std::move(kernel));
  }
  return all;
}

Resources::Instead LoadedScans::insteadOf(const CudaFamily &needed, const MetricView &metric,
                                          ScanElements elements, const Workload &work,
                                          const Machine &machine, double rows, SearchStats &stats) {
  if (!linksAhead())
    return {};
  const CudaFamily *const one = &needed;
  const LinkQuestion question = {metric,
                                 elements,
                                 context_->sm(),
                                 {&one, 1},
                                 work,
                                 machine,
                                 rows,
                                 [&](const ScanEntry &entry) {
                                   return scans_.find(metric, elements, entry.kernel) ||
                                          ahead_.has(metric, {elements, context_->sm(), entry});
                                 }};
  const CudaFamily *other = ahead_.insteadOf(question);
  if (!other)
    return {};
  try {
    (void)get(metric, elements, *other, work, stats);
  } catch (const Error &) { // Said by the link that is needed.
    return {};
  }
  const CudaFamily *linking = ahead_.begin(question);
  return linking ? Resources::Instead{other, linking} : Resources::Instead{};
}

} // namespace annudf::runtime::cuda
