//===- LoadedScans.h - The linked kernels of one backend --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_SEARCH_LOADEDSCANS_H
#define ANNUDF_RUNTIME_LIB_CUDA_SEARCH_LOADEDSCANS_H

#include "Pipeline.h"
#include "cuda/link/LinksAhead.h"

#include <optional>

namespace annudf::runtime::cuda {

/// Scan kernels, loaded on one device. Thread-safe.
class LoadedScans {
public:
  explicit LoadedScans(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  /// Adds what they cost to `stats`. \throws as LinkedScans::use, and where the code is not that of
  /// the metric's manifest.
  FamilyKernels get(const MetricView &metric, ScanElements elements, const CudaFamily &family,
                    const Workload &work, SearchStats &stats);
  /// The family's where all of them are loaded; else nothing.
  std::optional<FamilyKernels> loaded(const CudaFamily &family, const MetricView &metric,
                                      ScanElements elements, const Workload &work);
  /// What runs a search sooner than the family that it needs: its kernel is there, and the needed
  /// one is linked in the background. Mostly nothing: that is there, or worth waiting for.
  /// \param work  of all queries.
  /// \param rows  that all of them scan, at most.
  Resources::Instead insteadOf(const CudaFamily &needed, const MetricView &metric,
                               ScanElements elements, const Workload &work, const Machine &machine,
                               double rows, SearchStats &stats);

  /// One kernel, for a filter's code too.
  std::shared_ptr<const ScanKernel> get(const MetricView &metric, ScanElements elements,
                                        const ScanEntry &entry, SearchStats &stats);

private:
  const std::shared_ptr<const Context> context_;
  KernelCache<const ScanKernel> scans_{LinkedScans::kMost};
  LinksAhead ahead_;
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_SEARCH_LOADEDSCANS_H
